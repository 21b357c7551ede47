/**
 * The families of a kubelet that a node has: type, stability, labels, and the upper bounds of histograms. From
 * `pkg/kubelet/metrics/metrics.go`, `pkg/kubelet/server/metrics/metrics.go`, `pkg/kubelet/prober/prober_manager.go`,
 * `pkg/kubelet/certificate/kubelet.go`, `cmd/kubelet/app/server.go`, `pkg/volume/util/metrics.go`,
 * `pkg/kubelet/volumemanager/metrics/metrics.go`, `pkg/kubelet/metrics/collectors/log_metrics.go` of a kubelet 1.36, and `metrics` of component-base.
 */

type Listed = readonly [type: string, stability: string, labels?: string, bounds?: readonly number[]];

const USUAL = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STARTS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];
const RUNTIME = [
  0.005, 0.0125, 0.03125, 0.078125, 0.1953125, 0.48828125, 1.220703125, 3.0517578125, 7.62939453125, 19.073486328125,
  47.6837158203125, 119.20928955078125, 298.0232238769531, 745.0580596923828,
];
const PULLS = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600];
const STORAGE = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];
const RESIZES = [10, 50, 100, 500, 1000, 2000, 5000, 10000, 20000, 30000, 60000, 120000, 300000, 600000];
const BODIES = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];
const REST = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

const OF_SERVER = 'long_running method path server_type';
const OF_CONTAINER = 'container namespace pod';

/** By name; labels in the order of the alphabet. */
export const METRICS: Readonly<Record<string, Listed>> = {
  kubelet_node_name: ['gauge', 'ALPHA', 'node'],
  kubelet_node_startup_duration_seconds: ['gauge', 'ALPHA'],
  kubelet_node_startup_post_registration_duration_seconds: ['gauge', 'ALPHA'],
  kubelet_node_startup_pre_kubelet_duration_seconds: ['gauge', 'ALPHA'],
  kubelet_node_startup_pre_registration_duration_seconds: ['gauge', 'ALPHA'],
  kubelet_node_startup_registration_duration_seconds: ['gauge', 'ALPHA'],
  kubelet_metrics_provider: ['gauge', 'ALPHA', 'provider'],
  kubelet_restarted_pods_total: ['counter', 'ALPHA', 'static'],
  kubelet_first_network_pod_start_sli_duration_seconds: ['gauge', 'INTERNAL'],
  kubelet_image_manager_ensure_image_requests_total: ['counter', 'ALPHA', 'present_locally pull_policy pull_required'],
  kubelet_sleep_action_terminated_early_total: ['counter', 'ALPHA'],
  kubelet_lifecycle_handler_http_fallbacks_total: ['counter', 'ALPHA'],
  kubelet_websocket_streaming_requests_total: ['counter', 'ALPHA', 'subresource'],
  kubelet_container_requested_resizes_total: ['counter', 'ALPHA', 'operation requirement resource'],
  kubelet_pod_resize_duration_milliseconds: ['histogram', 'ALPHA', 'success', RESIZES],
  kubelet_pod_pending_resizes: ['gauge', 'ALPHA', 'reason'],
  kubelet_pod_in_progress_resizes: ['gauge', 'ALPHA'],
  kubelet_running_pods: ['gauge', 'ALPHA'],
  kubelet_running_containers: ['gauge', 'ALPHA', 'container_state'],
  kubelet_desired_pods: ['gauge', 'ALPHA', 'static'],
  kubelet_active_pods: ['gauge', 'ALPHA', 'static'],
  kubelet_mirror_pods: ['gauge', 'ALPHA'],
  kubelet_working_pods: ['gauge', 'ALPHA', 'config lifecycle static'],
  kubelet_managed_ephemeral_containers: ['gauge', 'ALPHA'],
  kubelet_containers_per_pod_count: ['histogram', 'ALPHA', '', [1, 2, 4, 8, 16]],
  kubelet_started_pods_total: ['counter', 'ALPHA'],
  kubelet_started_pods_errors_total: ['counter', 'ALPHA'],
  kubelet_started_user_namespaced_pods_total: ['counter', 'ALPHA'],
  kubelet_started_user_namespaced_pods_errors_total: ['counter', 'ALPHA'],
  kubelet_started_containers_total: ['counter', 'ALPHA', 'container_type'],
  kubelet_started_containers_errors_total: ['counter', 'ALPHA', 'code container_type'],
  kubelet_terminated_containers_total: ['counter', 'ALPHA', 'container_type exit_code reason'],
  kubelet_runtime_operations_total: ['counter', 'ALPHA', 'operation_type'],
  kubelet_runtime_operations_errors_total: ['counter', 'ALPHA', 'operation_type'],
  kubelet_runtime_operations_duration_seconds: ['histogram', 'ALPHA', 'operation_type', RUNTIME],
  kubelet_run_podsandbox_duration_seconds: ['histogram', 'ALPHA', 'runtime_handler', USUAL],
  kubelet_run_podsandbox_errors_total: ['counter', 'ALPHA', 'runtime_handler'],
  kubelet_image_pull_duration_seconds: ['histogram', 'ALPHA', 'image_size_in_bytes', PULLS],
  kubelet_image_volume_requested_total: ['counter', 'BETA'],
  kubelet_image_volume_mounted_succeed_total: ['counter', 'BETA'],
  kubelet_image_volume_mounted_errors_total: ['counter', 'BETA'],
  kubelet_pod_start_duration_seconds: ['histogram', 'ALPHA', '', STARTS],
  kubelet_pod_start_sli_duration_seconds: ['histogram', 'ALPHA', '', STARTS],
  kubelet_pod_start_total_duration_seconds: ['histogram', 'ALPHA', '', STARTS],
  kubelet_pod_worker_duration_seconds: ['histogram', 'ALPHA', 'operation_type', USUAL],
  kubelet_pod_worker_start_duration_seconds: ['histogram', 'ALPHA', '', USUAL],
  kubelet_pod_status_sync_duration_seconds: [
    'histogram',
    'ALPHA',
    '',
    [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60],
  ],
  kubelet_pleg_relist_duration_seconds: ['histogram', 'ALPHA', '', USUAL],
  kubelet_pleg_relist_interval_seconds: ['histogram', 'ALPHA', '', USUAL],
  kubelet_pleg_last_seen_seconds: ['gauge', 'ALPHA'],
  kubelet_cgroup_manager_duration_seconds: ['histogram', 'ALPHA', 'operation_type', USUAL],
  kubelet_cgroup_version: ['gauge', 'ALPHA'],
  kubelet_admission_rejections_total: ['counter', 'ALPHA', 'reason'],
  kubelet_container_log_filesystem_used_bytes: ['gauge', 'ALPHA', 'container namespace pod uid'],
  kubelet_http_requests_total: ['counter', 'ALPHA', OF_SERVER],
  kubelet_http_requests_duration_seconds: ['histogram', 'ALPHA', OF_SERVER, USUAL],
  kubelet_http_inflight_requests: ['gauge', 'ALPHA', OF_SERVER],
  kubelet_certificate_manager_client_ttl_seconds: ['gauge', 'ALPHA'],
  kubelet_certificate_manager_server_ttl_seconds: ['gauge', 'ALPHA'],
  kubelet_certificate_manager_client_expiration_renew_errors: ['counter', 'ALPHA'],
  kubelet_server_expiration_renew_errors: ['counter', 'ALPHA'],
  storage_operation_duration_seconds: [
    ...(['histogram', 'ALPHA', 'migrated operation_name status volume_plugin', STORAGE] as const),
  ],
  volume_manager_total_volumes: ['gauge', 'ALPHA', 'plugin_name state'],
  rest_client_requests_total: ['counter', 'ALPHA', 'code host method'],
  rest_client_request_duration_seconds: ['histogram', 'ALPHA', 'host verb', REST],
  kubernetes_build_info: [
    ...(['gauge', 'BETA'] as const),
    'build_date compiler git_commit git_tree_state git_version go_version major minor platform',
  ],
  rest_client_request_size_bytes: ['histogram', 'ALPHA', 'host verb', BODIES],
  registered_metrics_total: ['counter', 'BETA', 'deprecated_version stability_level'],
  kubernetes_feature_enabled: ['gauge', 'BETA', 'name stage'],
  process_cpu_seconds_total: ['counter', ''],
  process_virtual_memory_max_bytes: ['gauge', ''],
  process_network_receive_bytes_total: ['counter', ''],
  process_network_transmit_bytes_total: ['counter', ''],
  process_resident_memory_bytes: ['gauge', ''],
  process_virtual_memory_bytes: ['gauge', ''],
  process_open_fds: ['gauge', ''],
  process_max_fds: ['gauge', ''],
  process_start_time_seconds: ['gauge', ''],
};

export const PROBES: Readonly<Record<string, Listed>> = {
  prober_probe_total: ['counter', 'BETA', `${OF_CONTAINER} pod_uid probe_type result`],
  prober_probe_duration_seconds: ['histogram', 'ALPHA', `${OF_CONTAINER} probe_type`, USUAL],
  process_start_time_seconds: ['gauge', 'ALPHA'],
};

export const SLIS: Readonly<Record<string, Listed>> = {
  kubernetes_healthcheck: ['gauge', 'STABLE', 'name type'],
  kubernetes_healthchecks_total: ['counter', 'STABLE', 'name status type'],
  process_start_time_seconds: ['gauge', 'ALPHA'],
};

/** Those that only this agent has. */
export const OWN: Readonly<Record<string, Listed>> = {
  statelet_actors: ['gauge', '', 'machine state'],
  statelet_limiter_slots: ['gauge', '', 'limiter'],
  statelet_limiter_slots_held: ['gauge', '', 'limiter'],
  statelet_limiter_queue: ['gauge', '', 'limiter'],
  statelet_stream_sessions: ['gauge', '', 'kind'],
  statelet_event_loop_delay_seconds: ['gauge', '', 'share'],
  statelet_event_loop_busy_seconds_total: ['counter', ''],
  statelet_recorder_lines_total: ['counter', ''],
  statelet_recorder_written_bytes_total: ['counter', ''],
  statelet_recorder_pending_characters: ['gauge', ''],
  statelet_recorder_missed_lines: ['gauge', ''],
  statelet_recorder_failing: ['gauge', ''],
};
