"""What the seeds name in their scheduled IR and their scheduler, and its name here."""

from tools.seeds_rows import Row, Section


def _item(concept: str, name: str, test: str) -> Row:
    """A concept of the scheduled IR."""
    return Row(concept, (f"compiler.schedule.{name}",), f"tests/schedule/{test}")


def _prepared(concept: str, test: str, name: str = "prepare:create_pre_schedule") -> Row:
    """A behaviour of the scheduler before there are data."""
    return Row(concept, (f"compiler.schedule.{name}",), f"tests/schedule/test_prepare.py::{test}")


def _instantiated(concept: str, test: str) -> Row:
    """A behaviour of the scheduler when data and variables come in."""
    name = "compiler.schedule.strict.instantiate:instantiate_schedule"
    return Row(concept, (name,), f"tests/schedule/strict/test_instantiate.py::{test}")


SECTIONS = (
    Section(
        "Scheduled IR",
        "seed 000: Scheduled",
        (
            _item("S_Kernel", "items:Kernel", "test_host.py::test_all_four_are_items_in_order"),
            _item(
                "S_Memory_Transfer, pitched",
                "items:MemoryTransfer",
                "test_regions.py::test_a_pitched_destination_leaves_the_rest_alone",
            ),
            _item(
                "S_Synchronization: barrier, fence, event",
                "items:Synchronization",
                "test_host.py::test_an_event_is_signalled_before_it_is_waited_for",
            ),
            _item(
                "S_Host_Callback",
                "items:HostCallback",
                "test_host.py::test_every_interpreter_runs_them",
            ),
            _item(
                "schedule_item",
                "items:ScheduleItem",
                "test_order.py::test_items_in_order_with_both_directions",
            ),
            _item(
                "dependency: data, anti, output, control",
                "items:Dependency",
                "test_verify.py::test_other_kinds_of_dependency_are_known",
            ),
            _item(
                "fusion_opportunity",
                "opportunities:FusionOpportunity",
                "test_opportunities.py::test_a_program_says_why_its_kernels_are_not_one",
            ),
            _item(
                "item_analysis",
                "items:ItemAnalysis",
                "test_analysis.py::test_the_estimate_is_the_roofline_and_the_launch",
            ),
            _item("graph_t", "printer:Schedule", "test_verify.py::test_broken_schedule"),
            _item("axis", "space:Axis", "test_space.py::test_two_axes_have_two_names"),
            _item(
                "mapping: block, thread, vec, serial",
                "space:Mapping",
                "test_space.py::test_a_tile_is_mapped_to_exactly_one_level",
            ),
            _item(
                "iter_space",
                "space:IterationSpace",
                "test_space.py::test_tiles_multiply_to_the_axis",
            ),
            _item(
                "memory_scope", "layout:Scope", "test_layout.py::test_a_schedule_knows_its_buffers"
            ),
            _item("layout", "layout:Layout", "test_layout.py::test_a_wrong_layout_is_refused"),
            _item(
                "allocation",
                "layout:Allocation",
                "test_layout.py::test_a_wrong_allocation_is_refused",
            ),
            _item(
                "buffer_info",
                "layout:BufferInfo",
                "test_layout.py::test_a_schedule_knows_its_buffers",
            ),
            _item(
                "loop_hint: Vectorize", "space:Vectorize", "test_space.py::test_hints_are_printed"
            ),
            _item(
                "loop_hint: Unroll", "space:Unroll", "test_space.py::test_a_hint_changes_something"
            ),
            _item("loop_hint: Prefetch", "space:Prefetch", "test_space.py::test_hints_are_printed"),
            _item(
                "loop_hint: Pipeline",
                "space:Pipeline",
                "test_space.py::test_a_hint_changes_something",
            ),
            _item(
                "reduction_plan",
                "space:ReductionPlan",
                "test_space.py::test_a_reduction_plan_folds_reduction_axes_once",
            ),
            _item(
                "schedule_context, validate_dims3",
                "space:ScheduleContext",
                "test_space.py::test_dims_are_exactly_three_and_positive",
            ),
            _item(
                "validate_iter_space",
                "space:IterationSpace",
                "test_space.py::test_a_mapped_axis_exists",
            ),
            _item(
                "contiguous_strides_elems",
                "layout:Layout",
                "test_layout.py::test_strides_are_those_of_numpy",
            ),
            _item(
                "size_bytes_of_layout",
                "layout:Layout",
                "test_layout.py::"
                "test_a_zero_extent_counts_as_one_for_strides_and_as_nothing_for_bytes",
            ),
            _item(
                "compute_dependents",
                "items:ScheduleItem.dependents",
                "test_order.py::test_items_in_order_with_both_directions",
            ),
            _item("topological_order", "kahn:kahn", "test_order.py::test_kahn_on_random_graphs"),
            _item(
                "find_critical_path",
                "analysis:critical_path",
                "test_analysis.py::test_random_schedules_against_every_path",
            ),
            _item(
                "sum_estimated_runtime_ns",
                "analysis:timings",
                "test_analysis.py::test_start_finish_and_slack",
            ),
            _item(
                "estimate_peak_memory",
                "memory:itemwise_bytes",
                "test_memory.py::test_a_buffer_counts_once_whatever_its_roles",
            ),
        ),
    ),
    Section(
        "Kinds of the kernel graph",
        "seed 003",
        (
            _item("CALL", "kinds:Call", "test_prepare.py::test_dependency_on_a_call"),
            _item(
                "custom function",
                "kinds:CustomCall",
                "test_prepare.py::test_ordering_only_dependency_of_a_void_custom_call",
            ),
            _item(
                "AFTER",
                "kinds:After",
                "test_prepare.py::test_dependencies_of_an_after_around_an_after",
            ),
            _item("END", "kinds:End", "test_prepare.py::test_end_closes_exactly_one_range"),
            _item(
                "RANGE",
                "kinds:Range",
                "test_prepare.py::test_bound_range_is_unrolled_with_fixed_variables",
            ),
            _item("BIND", "kinds:Bind", "test_instantiate.py::test_bind_of_a_runtime_value"),
            _item(
                "DEFINE_VAR",
                "kinds:DefineVar",
                "test_prepare.py::test_variable_that_cannot_take_every_value_is_refused",
            ),
            _item("MSTACK", "kinds:MStack", "test_prepare.py::test_stack_without_lanes_is_refused"),
            _item(
                "MSELECT",
                "kinds:MSelect",
                "test_order.py::test_lanes_are_storage_and_wait_for_all_lanes",
            ),
            _item(
                "DEFINE_LOCAL",
                "kinds:DefineLocal",
                "test_order.py::test_locals_and_params_are_buffers_of_the_schedule",
            ),
            _item("PARAM", "kinds:Param", "test_instantiate.py::test_param_is_an_argument"),
            _item(
                "BUFFER",
                "kinds:Buffer",
                "test_instantiate.py::test_plain_buffer_is_looked_up_in_inputs_first",
            ),
            _item(
                "SINK",
                "kinds:KernelSink",
                "test_instantiate.py::test_outputs_are_in_the_order_of_the_sink",
            ),
        ),
    ),
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
)
