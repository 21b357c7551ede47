/** The families about pods and their containers (`pkg/kubelet/metrics/metrics.go`). */
import { OF_POD_STARTS, OF_PULLS, OF_STATUSES, USUAL } from '../buckets.ts';
import { alpha, beta, internal, type Registry } from '../registry.ts';

const PODS = {
  worker: alpha('kubelet_pod_worker_duration_seconds', 'How long the work for a pod takes, by its kind.', [
    'operation_type',
  ]),
  workerStart: alpha(
    'kubelet_pod_worker_start_duration_seconds',
    'The time from when a pod is first seen until the work for it begins.',
  ),
  start: alpha('kubelet_pod_start_duration_seconds', 'The time from when a pod is first seen until it runs.'),
  startTotal: alpha(
    'kubelet_pod_start_total_duration_seconds',
    'The time from the creation of a pod until the API server knows that its containers run.',
    [],
  ),
  startSli: alpha(
    'kubelet_pod_start_sli_duration_seconds',
    'The same without pulls and init containers, of pods whose volumes all end with them.',
    [],
  ),
  firstNetworkPod: internal(
    'kubelet_first_network_pod_start_sli_duration_seconds',
    'The same of the first pod with a network of its own.',
  ),
  restarted: alpha(
    'kubelet_restarted_pods_total',
    'Pods that were removed and wanted again with the same UID before they had ended.',
    ['static'],
  ),
  statusSync: alpha(
    'kubelet_pod_status_sync_duration_seconds',
    "The time from a change of a pod's status until the API server has it.",
  ),
  containersPerPod: alpha('kubelet_containers_per_pod_count', 'How many containers pods have.'),
  terminated: alpha('kubelet_terminated_containers_total', 'Runs of containers that have ended.', [
    'container_type',
    'exit_code',
    'reason',
  ]),
  preemptions: alpha(
    'kubelet_preemptions',
    'Pods that were terminated for a critical pod, by the resource that the critical pod was short of.',
    ['preemption_signal'],
  ),
  orphaned: alpha(
    'kubelet_orphaned_runtime_pods_total',
    'Running pods at the runtime that no source wants and that the node had not seen before.',
  ),
  rejections: alpha('kubelet_admission_rejections_total', 'Pods that the node has not taken, by reason.', ['reason']),
};

/** Of their starts, work and ends. */
export const podFamilies = ({ histogram, counter, gauge }: Registry) => ({
  firstNetworkPod: gauge(PODS.firstNetworkPod),
  restarted: counter(PODS.restarted),
  worker: histogram(PODS.worker, USUAL),
  workerStart: histogram(PODS.workerStart, USUAL),
  start: histogram(PODS.start, OF_POD_STARTS),
  startTotal: histogram(PODS.startTotal, OF_POD_STARTS),
  startSli: histogram(PODS.startSli, OF_POD_STARTS),
  statusSync: histogram(PODS.statusSync, OF_STATUSES),
  containersPerPod: histogram(PODS.containersPerPod, [1, 2, 4, 8, 16]),
  terminated: counter(PODS.terminated),
  preemptions: counter(PODS.preemptions),
  orphaned: counter(PODS.orphaned),
  rejections: counter(PODS.rejections),
});

const CALLS = {
  startedPods: alpha('kubelet_started_pods_total', 'Sandboxes that were asked for.'),
  startedPodsErrors: alpha('kubelet_started_pods_errors_total', 'Sandboxes that could not be had.'),
  startedUserNamespacedPods: alpha(
    'kubelet_started_user_namespaced_pods_total',
    'Sandboxes of pods with hostUsers: false that were requested.',
  ),
  startedUserNamespacedPodsErrors: alpha(
    'kubelet_started_user_namespaced_pods_errors_total',
    'Starts of pods with hostUsers: false in which the sandbox or one of the first containers failed.',
  ),
  startedContainers: alpha('kubelet_started_containers_total', 'Attempts to start a container.', ['container_type']),
  startedContainersErrors: alpha(
    'kubelet_started_containers_errors_total',
    'Attempts to start a container that failed, by reason.',
    ['container_type', 'code'],
  ),
  pull: alpha('kubelet_image_pull_duration_seconds', 'How long images take to be pulled, by their size.', [
    'image_size_in_bytes',
  ]),
  cgroups: alpha('kubelet_cgroup_manager_duration_seconds', 'How long the work on cgroups of pods takes.', [
    'operation_type',
  ]),
  ensuredImages: alpha(
    'kubelet_image_manager_ensure_image_requests_total',
    'Times that an image was looked up for a container, by its pull policy, and whether it was there and had to be pulled.',
    ['present_locally', 'pull_policy', 'pull_required'],
  ),
  sleepsCutShort: alpha('kubelet_sleep_action_terminated_early_total', 'Sleep hooks that ended before their time.'),
  httpFallbacks: alpha(
    'kubelet_lifecycle_handler_http_fallbacks_total',
    'HTTPS hooks that a server without TLS answered over HTTP.',
  ),
  imageVolumes: beta('kubelet_image_volume_requested_total', 'Image volumes that containers asked for.'),
  imageVolumesMounted: beta('kubelet_image_volume_mounted_succeed_total', 'Image volumes that were mounted.'),
  imageVolumesFailed: beta('kubelet_image_volume_mounted_errors_total', 'Image volumes that could not be mounted.'),
};

/** Of what is done for them. */
export const callFamilies = ({ histogram, counter }: Registry) => ({
  startedPods: counter(CALLS.startedPods),
  startedPodsErrors: counter(CALLS.startedPodsErrors),
  startedUserNamespacedPods: counter(CALLS.startedUserNamespacedPods),
  startedUserNamespacedPodsErrors: counter(CALLS.startedUserNamespacedPodsErrors),
  startedContainers: counter(CALLS.startedContainers),
  startedContainersErrors: counter(CALLS.startedContainersErrors),
  pull: histogram(CALLS.pull, OF_PULLS),
  cgroups: histogram(CALLS.cgroups, USUAL),
  ensuredImages: counter(CALLS.ensuredImages),
  sleepsCutShort: counter(CALLS.sleepsCutShort),
  httpFallbacks: counter(CALLS.httpFallbacks),
  imageVolumes: counter(CALLS.imageVolumes),
  imageVolumesMounted: counter(CALLS.imageVolumesMounted),
  imageVolumesFailed: counter(CALLS.imageVolumesFailed),
});
