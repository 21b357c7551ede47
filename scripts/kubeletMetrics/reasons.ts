/** The metrics of a kubelet that the node does not expose, with the reasons: data behind docs/metrics.md. */

interface Reason {
  /** Names of metrics. A `*` at the end stands for any rest. */
  readonly names: readonly string[];
  readonly text: string;
}

const NO_MANAGER = 'no container has CPUs or memory of its own: there is no CPU, memory or topology manager';
const NO_CLAIM = 'the node mounts no persistent volume claims';
const NO_EVICTION = 'the node evicts no pods';
const LIBRARY = 'belongs to a library of Kubernetes that a kubelet links and does not use';

export const reasons: readonly Reason[] = [
  { names: ['go_*'], text: 'the agent is not a Go program' },
  { names: ['aggregator_*', 'apiserver_audit_*', 'apiserver_envelope_*'], text: LIBRARY },
  { names: ['apiserver_storage_*', 'apiserver_validation_*', 'apiserver_webhooks_*'], text: LIBRARY },
  {
    names: ['apiserver_client_certificate_expiration_seconds'],
    text: 'the remaining life of the certificates of clients is not counted',
  },
  {
    names: ['apiserver_delegated_authz_*'],
    text: '`explain node` shows the reviews by the API server, and `rest_client_requests_total` counts them',
  },
  {
    names: [
      'cardinality_enforcement_unexpected_categorizations_total',
      'disabled_metrics_total',
      'hidden_metrics_total',
    ],
    text: 'no metric can be disabled, hidden, or limited to an allow-list of labels',
  },
  { names: ['dra_*'], text: 'the node does not support dynamic resource allocation' },
  {
    names: ['force_cleaned_failed_volume_*', 'reconstruct_volume_*'],
    text: 'volumes are not reconstructed from directories: a new agent mounts them again, and removes those of no pod',
  },
  { names: ['kubelet_cpu_manager_*', 'kubelet_memory_manager_*', 'kubelet_topology_manager_*'], text: NO_MANAGER },
  { names: ['kubelet_container_aligned_compute_resources_*'], text: NO_MANAGER },
  {
    names: ['kubelet_cri_losing_support'],
    text: 'the node works with runtimes that do not have the call, and will continue to do so',
  },
  { names: ['kubelet_device_plugin_*'], text: 'the node does not support device plugins' },
  { names: ['kubelet_eviction_stats_age_seconds', 'kubelet_evictions'], text: NO_EVICTION },
  {
    names: ['kubelet_evented_pleg_*'],
    text: 'events of the runtime are only hints to list it sooner, which `kubelet_pleg_relist_interval_seconds` shows',
  },
  {
    names: ['kubelet_graceful_shutdown_*'],
    text: 'the node does not delay a shutdown of the host',
  },
  { names: ['kubelet_image_garbage_collected_total'], text: 'the node removes no images' },
  {
    names: ['kubelet_imagemanager_inmemory_*'],
    text: 'records of pulls are read from the disk, without a cache of limited size',
  },
  {
    names: ['kubelet_imagemanager_image_mustpull_checks_total', 'kubelet_imagemanager_ondisk_*'],
    text: 'records of pulls are not counted',
  },
  {
    names: ['kubelet_orphan_pod_cleaned_volumes', 'kubelet_orphan_pod_cleaned_volumes_errors'],
    text: 'volumes of no pod are removed as soon as they are noticed, not in periodic sweeps',
  },
  {
    names: ['kubelet_orphaned_runtime_pods_total'],
    text: 'pods of an earlier agent that no source wants are the orphans of `kubelet_working_pods`',
  },
  {
    names: ['kubelet_pleg_discard_events'],
    text: 'no event is discarded, because the actors have queues without a limit',
  },
  { names: ['kubelet_pleg_pod_relist_duration_seconds'], text: 'one list of the runtime shows all pods' },
  {
    names: ['kubelet_pod_deferred_accepted_resizes_total'],
    text: 'a deferred resize is retried whenever resources become free, not by the triggers of a kubelet',
  },
  {
    names: ['kubelet_pod_infeasible_resizes_total'],
    text: '`kubelet_pod_pending_resizes` has them with the reason `infeasible`',
  },
  {
    names: ['kubelet_pod_resources_endpoint_*'],
    text: 'requests to the socket of the pod-resources API are not counted',
  },
  { names: ['kubelet_pod_watch_events_dropped_total'], text: 'the node does not serve the alpha API of pods' },
  {
    names: ['kubelet_preemptions'],
    text: 'the event Preempting names the pod, and the conditions of pods show each preemption',
  },
  { names: ['kubelet_started_host_process_containers_*'], text: 'only on Windows' },
  {
    names: ['kubelet_volume_metric_collection_duration_seconds'],
    text: 'volumes are measured one after the other in a process of their own that may pause',
  },
  { names: ['kubelet_volume_stats_*'], text: NO_CLAIM },
  {
    names: ['rest_client_exec_plugin_*'],
    text: 'the tokens of credential plugins are renewed without certificates, and their life is not counted',
  },
  {
    names: ['rest_client_rate_limiter_duration_seconds', 'rest_client_response_size_bytes'],
    text: 'the requests are counted when they are sent and answered, so that neither the wait before nor the body of a watch counts',
  },
  { names: ['rest_client_transport_*'], text: 'there is one connection to the API server, and no cache of transports' },
  { names: ['volume_operation_total_seconds'], text: '`storage_operation_duration_seconds` has every operation' },
  {
    names: ['container_cpu_load_average_10s', 'container_cpu_load_d_average_10s', 'container_tasks_state'],
    text: 'a kubelet does not measure them and reports 0, and a value that was not measured is absent here',
  },
  { names: ['machine_nvm_*'], text: 'non-volatile memory is not inspected' },
  { names: ['workqueue_*'], text: 'actors have no work queues; `statelet_limiter_queue` shows those that wait' },
];
