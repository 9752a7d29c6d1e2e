"""LLVM's output of a scheduling model is parsed."""

from compiler.llvm.looking.scheduling_model import Cost, SchedulingModel, model

PRINTED = """\
********** MI Scheduling **********
SU(0):   %7:fpr128 = LDRQui %4:gpr64common, 0 :: (load (s128) from %ir.p)
  Latency            : 5
SU(1):   %9:fpr128 = contract nofpexcept FMLAv4f32 %9:fpr128(tied-def 0), %7:fpr128, %7:fpr128
  Latency            : 4
Scheduling SU(0) %7:fpr128 = LDRQui %4:gpr64common, 0 :: (load (s128) from %ir.p)
  Ready @0c
  N1UnitI +1x2u
  N1UnitL +1x3u
TopQ.A @0c
  Retired: 2
  Executed: 0c
  Critical: 0c, 2 MOps
Scheduling SU(1) %9:fpr128 = contract nofpexcept FMLAv4f32 %9:fpr128(tied-def 0), %7:fpr128
  N1UnitV +1x3u
  *** Max MOps 3 at cycle 0
Cycle: 1 TopQ.A
TopQ.A @1c
  Retired: 3
  Executed: 1c
  Critical: 4c, 8 N1UnitV
"""


def test_units_latencies_and_micro_operations() -> None:
    found = model(PRINTED)
    assert found is not None and found.width == 3
    assert found.costs == {
        "LDRQui": Cost(5, 2, {"N1UnitI": 2 / 6, "N1UnitL": 0.5}),
        "FMLAv4f32": Cost(4, 1, {"N1UnitV": 0.5}),
    }


def test_a_unit_that_was_not_seen_counts() -> None:
    """Sixteen cycles of a unit are counted as four: there are four units of its kind."""
    found = model(PRINTED.replace("4c, 8 N1UnitV", "4c, 16 N1UnitV"))
    assert found is not None and found.costs["FMLAv4f32"].units == {"N1UnitV": 0.25}


def test_no_model() -> None:
    assert model("") is None
    assert model("\n".join(it for it in PRINTED.splitlines() if "N1Unit" not in it)) is None


def test_encodings_that_change_at_the_end() -> None:
    names = ("VADDSSZrr", "VADDPSZrr", "VPADDQZ256rr", "ADD64ri32", "VMOVDQU64Z128rm", "VPORYrr")
    known = SchedulingModel({name: Cost(n) for n, name in enumerate(names)}, 4)
    asked = ("VADDSSrr", "VPADDQYrr", "ADD64ri8", "VMOVDQUrm", "VORPSYrr", "VPORYrr")
    found = [cost.latency if (cost := known.of(name)) else None for name in asked]
    assert found == [0, 2, 3, 4, 5, 5]
    assert known.of("VADDPSrr") is None
