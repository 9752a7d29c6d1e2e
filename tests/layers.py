"""Who may import whom."""

# The map: a module may import from its own layer and from those above it, never from one below.
# "compiler.graph" stands for the whole folder.
LAYERS = (
    ("foundations", "compiler.origin", "compiler.errors", "compiler.dtypes", "compiler.node",
            "compiler.trace", "compiler.stage", "compiler.reason", "compiler.machine",
            "compiler.garbage", "compiler.printable", "compiler.passes", "compiler.options",
            "compiler.user_cache", "compiler.forking",
            "compiler.user_source"),
    ("ops", "compiler.references", "compiler.ops", "compiler.random_bits",
            "compiler.updates", "compiler.functions"),
    ("graph", "compiler.graph"),
    ("schedule", "compiler.schedule"),
    ("loops", "compiler.loops"),
    ("lowered", "compiler.lowered"),
    ("llvm", "compiler.llvm"),
    ("device", "compiler.device", "compiler.runtime"),
    ("pipeline", "compiler.facts", "compiler.pipeline", "compiler.rule"),
    ("compilation", "compiler.kernels", "compiler.execution", "compiler.biography",
                    "compiler.tune", "compiler.scheduling", "compiler.sharding",
                    "compiler.realize", "compiler.bindings", "compiler.feeding",
                    "compiler.summary", "compiler.codegen", "compiler.allocation",
                    "compiler.overlap", "compiler.assemble", "compiler.naming", "compiler.native",
                    "compiler.plans", "compiler.prepare", "compiler.costing", "compiler.budget",
                    "compiler.decisions", "compiler.seen", "compiler.check", "compiler.asking",
                    "compiler.values", "compiler.compilation", "compiler.playground",
                    "compiler.dropped"),
    ("tensor", "compiler.tensors", "compiler.tensor", "compiler.custom"),
    ("compiler", "compiler"),
    ("svodviz", "svodviz"),
    ("surroundings", "examples", "benchmarks", "tools", "tests"),
)  # fmt: skip
