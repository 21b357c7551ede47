/**
 * Lists the metrics of a kubelet that the node does not expose, with the reasons. docs/metrics.md is generated from
 * this list.
 */

export interface ExclusionReason {
  /** Names of metrics. A `*` at the end matches any suffix. */
  readonly names?: readonly string[];
  /** Files that declare the metrics. A `*` at the end matches any suffix. */
  readonly files?: readonly string[];
  readonly text: string;
}

const NO_VOLUME_CLAIMS = 'the node mounts no persistent volume claims';
const SERVER_LIBRARY = 'belongs to a library of API servers, which a kubelet links and does not use';
const NEVER_REGISTERED = 'client-go declares it and registers it nowhere, so that no kubelet exposes it';

export const exclusionReasons: readonly ExclusionReason[] = [
  { names: ['go_*'], text: 'the agent is not a Go program' },
  {
    files: [
      'k8s.io/apiserver/pkg/admission/*',
      'k8s.io/apiserver/pkg/audit/*',
      'k8s.io/apiserver/pkg/authorization/cel/*',
      'k8s.io/apiserver/pkg/endpoints/*',
      'k8s.io/apiserver/pkg/server/*',
      'k8s.io/apiserver/pkg/storage/*',
      'k8s.io/apiserver/pkg/util/*',
      'k8s.io/apiserver/pkg/validation/*',
    ],
    text: SERVER_LIBRARY,
  },
  {
    files: ['k8s.io/apiserver/plugin/pkg/authorizer/webhook/*'],
    text: 'a kubelet counts its reviews as `apiserver_delegated_authz_*` instead',
  },
  {
    files: ['pkg/scheduler/*'],
    text: 'belongs to the scheduler, whose checks a kubelet links without its metrics',
  },
  {
    files: ['pkg/controller/tainteviction/*'],
    text: 'belongs to a controller, whose helpers a kubelet links without its metrics',
  },
  {
    files: ['k8s.io/component-base/metrics/prometheus/clientgo/leaderelection/*'],
    text: 'no leader is elected on a node',
  },
  {
    files: ['k8s.io/component-base/metrics/prometheus/clientgo/fifo/*'],
    text: 'objects go from a watch to the cache without a queue, and the informers of a kubelet have no name to be counted by',
  },
  {
    names: ['version_info'],
    text: 'an API server sets it: a kubelet has no compatibility version',
  },
  {
    names: [
      'cardinality_enforcement_unexpected_categorizations_total',
      'disabled_metrics_total',
      'hidden_metrics_total',
    ],
    text: 'no metric can be disabled, hidden, or limited to an allow-list of labels',
  },
  { names: ['csi_operations_seconds'], text: 'the node has no CSI drivers' },
  {
    names: ['force_cleaned_failed_volume_*', 'reconstruct_volume_*'],
    text: 'volumes are not reconstructed from directories: a new agent mounts them again, and removes those of no pod',
  },
  { names: ['resource_manager_*'], text: 'belongs to the feature gate PodLevelResourceManagers, which has no effect' },
  {
    names: ['kubelet_cri_losing_support'],
    text: 'the node works with runtimes that do not have the call, and will continue to do so',
  },
  {
    names: ['kubelet_imagemanager_inmemory_*'],
    text: 'all records of pulls are in memory, where they have no limit that a percentage could be of',
  },
  {
    names: ['kubelet_orphan_pod_cleaned_volumes', 'kubelet_orphan_pod_cleaned_volumes_errors'],
    text: 'there is no sweep that they could be counted in: a pod of which only its directory is left terminates like any other, and `kubelet_working_pods` has it as `orphan`',
  },
  {
    names: ['kubelet_pleg_discard_events'],
    text: 'no event is discarded, because the actors have queues without a limit',
  },
  { names: ['kubelet_pleg_pod_relist_duration_seconds'], text: 'one list of the runtime shows all pods' },
  {
    names: ['kubelet_pod_resources_endpoint_errors_get_allocatable', 'kubelet_pod_resources_endpoint_errors_list'],
    text: 'a kubelet declares it and counts nothing in it: only requests for one pod can fail',
  },
  { names: ['kubelet_pod_watch_events_dropped_total'], text: 'the node does not serve the alpha API of pods' },
  { names: ['kubelet_podcertificate_states'], text: 'the node requests no certificates for pods' },
  { names: ['kubelet_started_host_process_containers_*'], text: 'only on Windows' },
  { names: ['kubelet_volume_stats_*'], text: NO_VOLUME_CLAIMS },
  {
    names: ['rest_client_dns_resolution_duration_seconds', 'rest_client_exec_plugin_policy_call_total'],
    text: NEVER_REGISTERED,
  },
  {
    names: ['rest_client_transport_cache_*', 'rest_client_transport_cert_rotation_gc_calls_total'],
    text: 'the agent creates its transports once, at its start, and caches none, so that nothing is collected',
  },
  {
    names: ['scrape_error'],
    text: 'deprecated since Kubernetes 1.29 and hidden in a kubelet 1.36: `resource_scrape_error` has its value',
  },
  { names: ['volume_manager_selinux_*'], text: 'the node mounts no volume with an SELinux label' },
  {
    names: ['container_cpu_load_average_10s', 'container_cpu_load_d_average_10s', 'container_tasks_state'],
    text: 'a kubelet does not measure them and reports 0, and a value that was not measured is absent here',
  },
  {
    names: ['machine_nvm_*'],
    text: 'a kubelet is built without the library that reads them and reports 0',
  },
  { names: ['workqueue_*'], text: 'actors have no work queues; `statelet_limiter_queue` shows those that wait' },
];
