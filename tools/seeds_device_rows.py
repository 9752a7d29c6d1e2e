"""What the seeds name in their device layer, and what they leave open, and its name here."""

from tools.seeds_rows import Row, Section


def _device(concept: str, name: str, test: str) -> Row:
    """A concept of the device layer."""
    return Row(concept, (f"compiler.device.{name}",), f"tests/device/{test}")


def _other(concept: str, name: str, test: str) -> Row:
    """What the seeds name and do not build."""
    return Row(concept, (name,), f"tests/{test}")


SECTIONS = (
    Section(
        "Device layer",
        "seed 004",
        (
            _device("Device", "device:Device", "test_device.py::test_devices_are_found_by_name"),
            _device(
                "Device.base_device_key",
                "device:Device.base_key",
                "test_device.py::test_ruling_28_numbered_devices_share_programs",
            ),
            _device(
                "Allocator",
                "allocator:Allocator",
                "test_allocator.py::"
                "test_a_freed_block_is_used_again_by_any_tensor_of_about_its_size",
            ),
            _device(
                "Renderer",
                "program:Renderer",
                "test_program.py::test_the_renderer_of_the_cpu_makes_a_program_that_runs",
            ),
            _device(
                "a second renderer: C", "c_source:CRenderer", "test_c_source.py::test_programs_in_c"
            ),
            _device(
                "Compiler",
                "program:Compiler",
                "test_program.py::test_the_renderer_of_the_cpu_makes_a_program_that_runs",
            ),
            _device(
                "RuntimeFactory",
                "program:RuntimeFactory",
                "test_program.py::test_the_renderer_of_the_cpu_makes_a_program_that_runs",
            ),
            _device(
                "Program",
                "program:Program",
                "test_program.py::test_a_cpu_program_runs_once_for_each_core",
            ),
            _device(
                "ProgramSpec",
                "program:ProgramSpec",
                "test_program.py::"
                "test_ruling_26_slots_are_sorted_and_unique_and_one_may_be_in_both",
            ),
            _device(
                "ProgramSpec.from_uop",
                "program:from_stages",
                "test_program.py::test_a_program_from_its_stages",
            ),
            _device(
                "CompiledSpec",
                "program:CompiledSpec",
                "test_device.py::test_the_interpreter_is_a_device_and_agrees_with_machine_code",
            ),
            _device(
                "Variable",
                "metadata:Variable",
                "test_program.py::test_variables_are_sorted_and_unique_by_name",
            ),
            _device(
                "ConcreteLaunchDims",
                "launch:LaunchDims",
                "test_launch.py::test_sizes_follow_the_values_of_a_run",
            ),
            _device(
                "eval_launch_expr",
                "launch:resolve_launch_dims",
                "test_launch.py::test_ruling_24_what_launch_sizes_are",
            ),
            _device(
                "launch sizes that are refused",
                "launch:resolve_launch_dims",
                "test_launch.py::test_ruling_24_what_launch_sizes_are_not",
            ),
            _device(
                "core_id",
                "metadata:CORE",
                "test_program.py::test_ruling_25_core_id_gives_the_global_size",
            ),
            _device(
                "two extents for one launch axis",
                "metadata:derive",
                "test_program.py::test_ruling_25_two_extents_for_one_axis_are_refused_in_any_order",
            ),
            _device(
                "direct and local launch axes",
                "metadata:derive",
                "test_program.py::test_ruling_25_direct_and_local_axes_do_not_mix",
            ),
            _device(
                "casts around an index",
                "metadata:derive",
                "test_program.py::test_ruling_26_casts_of_any_depth_are_seen_through",
            ),
            _device(
                "metadata given explicitly wins",
                "metadata:merge",
                "test_program.py::test_ruling_27_given_metadata_wins",
            ),
            _device(
                "metadata in conflict is refused",
                "metadata:merge",
                "test_program.py::test_ruling_27_a_conflict_is_refused",
            ),
            _device(
                "DISK", "device:DISK", "test_device.py::test_programs_compute_with_tensors_of_files"
            ),
            _device(
                "INTERPRET",
                "device:INTERPRET",
                "test_device.py::test_the_interpreter_is_a_device_and_agrees_with_machine_code",
            ),
        ),
    ),
    Section(
        "What the seeds leave open",
        "rulings 13, 29, 30 and devices",
        (
            _other(
                "memory planner",
                "compiler.schedule.analysis.share:share",
                "schedule/test_share.py::test_the_peak_is_close_to_what_is_alive",
            ),
            _other(
                "peak by liveness",
                "compiler.schedule.analysis.footprint:peak_bytes",
                "schedule/test_memory.py::test_the_peak_counts_what_is_alive_at_once",
            ),
            _other(
                "execution plan",
                "compiler.prepare:prepare",
                "test_prepare.py::test_eight_threads_share_a_plan",
            ),
            _other(
                "levels and overlap",
                "compiler.run.overlap:plan_levels",
                "test_overlap.py::test_items_that_conflict_run_one_after_the_other",
            ),
            _other(
                "schedule cache",
                "compiler.run.plans:structure_of",
                "test_prepare.py::test_the_same_structure_is_neither_scheduled_nor_compiled_again",
            ),
            _other(
                "machine model",
                "compiler.device.calibration:calibrate",
                "device/test_measure.py::test_a_model_is_measured_once_and_read_back",
            ),
            _other(
                "symbolic shapes",
                "compiler.tensors.variables:Variable",
                "test_variables.py::test_all_extents_are_compiled_once",
            ),
            _other(
                "a loop of kernels",
                "compiler.tensors.repeat:repeat",
                "test_repeat.py::test_power_iteration_of_the_example",
            ),
            _other(
                "sharding",
                "compiler.graph.shard:shard",
                "test_sharding.py::test_the_same_as_in_one_piece",
            ),
            _other(
                "budget of a device",
                "compiler.device.allocator:Allocator",
                "device/test_placement.py::test_a_budget_refuses_a_tensor_by_name",
            ),
        ),
    ),
)
