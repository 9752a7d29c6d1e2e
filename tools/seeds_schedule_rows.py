"""What the seeds name in their scheduled IR, scheduler and device layer, and its name here."""

from tools.seeds_rows import Row, Section


def _item(concept: str, name: str, test: str) -> Row:
    """A concept of the scheduled IR."""
    return Row(concept, (f"compiler.schedule.{name}",), f"tests/schedule/{test}")


def _prepared(concept: str, test: str, name: str = "prepare:create_pre_schedule") -> Row:
    """A behaviour of the scheduler before there are data."""
    return Row(concept, (f"compiler.schedule.{name}",), f"tests/schedule/test_prepare.py::{test}")


def _instantiated(concept: str, test: str) -> Row:
    """A behaviour of the scheduler when data and variables come in."""
    name = "compiler.schedule.instantiate:instantiate_schedule"
    return Row(concept, (name,), f"tests/schedule/test_instantiate.py::{test}")


def _device(concept: str, name: str, test: str) -> Row:
    """A concept of the device layer."""
    return Row(concept, (f"compiler.device.{name}",), f"tests/device/{test}")


SECTIONS = (
    Section(
        "Scheduler",
        "seed 003",
        (
            _prepared("create_pre_schedule", "test_callables_are_found_without_entering_bodies"),
            _instantiated(
                "instantiate_schedule",
                "test_pre_schedule_is_instantiated_twice_with_different_memory",
            ),
            _instantiated("create_schedule", "test_power_iteration_runs_item_by_item_like_numpy"),
            _instantiated("InputBuffers", "test_plain_buffer_is_looked_up_in_inputs_first"),
            _prepared(
                "BoundRangeRef",
                "test_bound_range_is_unrolled_with_fixed_variables",
                "prepare:PreScheduleItem.bound_ranges",
            ),
            _prepared(
                "KernelInvocation",
                "test_bound_range_is_unrolled_with_fixed_variables",
                "prepare:KernelInvocation",
            ),
            _prepared(
                "PreScheduleItem",
                "test_bound_range_is_unrolled_with_fixed_variables",
                "prepare:PreScheduleItem",
            ),
            _prepared(
                "PreSchedule",
                "test_bound_range_is_unrolled_with_fixed_variables",
                "prepare:PreSchedule",
            ),
            _instantiated("ScheduleItem", "test_items_and_invocations_are_in_one_order"),
            _instantiated(
                "ScheduleResult: outputs in the order of the sink",
                "test_outputs_are_in_the_order_of_the_sink",
            ),
        ),
    ),
    Section(
        "Behaviours of the scheduler",
        "seed 003 and rulings 16 to 23",
        (
            _instantiated(
                "canonical buffer id through after and mselect",
                "test_canonical_buffer_id_through_wrappers",
            ),
            _instantiated("alias ids are recorded", "test_all_wrappers_are_recorded_as_aliases"),
            _instantiated("argument order", "test_argument_order_is_kept"),
            _prepared("dependency on a call", "test_dependency_on_a_call"),
            _prepared(
                "dependency on END(call)", "test_dependency_on_the_end_of_a_call_is_on_the_call"
            ),
            _prepared("dependency of a nested after", "test_dependencies_of_a_nested_after"),
            _prepared("a store is ignored", "test_store_is_ignored_as_dependency"),
            _prepared(
                "a non-callable dependency is refused", "test_non_callable_dependency_is_refused"
            ),
            _prepared(
                "no false dependency from a shared passthrough",
                "test_no_false_dependency_from_a_shared_passthrough",
            ),
            _prepared(
                "ordering-only dependency of a void custom call",
                "test_ordering_only_dependency_of_a_void_custom_call",
            ),
            _prepared(
                "the ordering scan does not enter bodies",
                "test_ordering_only_scan_does_not_enter_bodies",
            ),
            _prepared(
                "mselect depends on both lanes, binds its own",
                "test_mselect_depends_on_both_lanes_and_binds_its_own",
            ),
            _prepared("a bad lane index is refused", "test_bad_lane_index_is_refused"),
            _prepared(
                "bound ranges unroll with fixed variables 0, 1, 2",
                "test_bound_range_is_unrolled_with_fixed_variables",
            ),
            _prepared(
                "a range closed by END but bound by none runs its trip count",
                "test_unbound_range_still_runs_its_trip_count",
            ),
            _prepared("END closes exactly one range", "test_end_closes_exactly_one_range"),
            _prepared("nested ranges", "test_nested_ranges_nest_properly"),
            _prepared("range, A, END, B, END is refused", "test_range_a_end_b_end_is_refused"),
            _prepared("an empty range runs zero times", "test_empty_range_runs_zero_times"),
            _prepared(
                "a counter is inactive after its loop", "test_counter_is_inactive_after_its_loop"
            ),
            _prepared("non-concrete bounds are refused", "test_non_concrete_bounds_are_refused"),
            _instantiated("a bind that is a runtime value", "test_bind_of_a_runtime_value"),
            _instantiated(
                "a bind of a range that no END closes",
                "test_bind_of_a_range_no_end_closes_is_a_runtime_value",
            ),
            _instantiated(
                "a bind of what is no define-var is refused",
                "test_bind_of_no_define_var_is_refused",
            ),
            _instantiated(
                "loop values override user values and stay locked",
                "test_loop_values_override_user_values_and_stay_locked",
            ),
            _instantiated(
                "a user who passes a loop variable is told the loop",
                "test_user_who_passes_a_loop_variable_gets_an_error_that_names_the_loop",
            ),
            _prepared("a cycle is refused with its path", "test_cycle_is_refused_with_its_path"),
            _prepared(
                "instance dependencies after unrolling",
                "test_two_iterations_on_the_same_storage_are_ordered",
            ),
            _prepared("write after read is ordered", "test_write_after_read_is_ordered"),
            _instantiated(
                "items and invocations in one order", "test_items_and_invocations_are_in_one_order"
            ),
            _instantiated(
                "after and lanes look in allocated first",
                "test_after_is_looked_up_in_allocated_first",
            ),
            _instantiated(
                "plain buffers look in inputs first",
                "test_plain_buffer_is_looked_up_in_inputs_first",
            ),
            _instantiated(
                "an unknown buffer is refused with its id",
                "test_unknown_buffer_is_refused_with_its_id",
            ),
            _instantiated(
                "define-local is a source everywhere", "test_define_local_is_legal_everywhere"
            ),
            _instantiated(
                "intermediates are on the device of the first non-disk input",
                "test_intermediates_are_on_the_device_of_the_first_non_disk_input",
            ),
            _instantiated(
                "CPU where all inputs are on disk",
                "test_intermediates_are_on_the_cpu_where_all_inputs_are_on_disk",
            ),
        ),
    ),
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
                "test_allocator.py::test_a_freed_block_is_used_again_by_any_tensor_of_about_its_size",
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
                "test_program.py::test_ruling_26_slots_are_sorted_and_unique_and_one_may_be_in_both",
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
)
