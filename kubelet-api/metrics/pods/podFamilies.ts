/** Defines the metric families about pods and their containers (`pkg/kubelet/metrics/metrics.go`). */
import { DEFAULT_BUCKETS, POD_START_BUCKETS, PULL_BUCKETS, STATUS_SYNC_BUCKETS } from '../buckets.ts';
import { alpha, beta, internal, type Registry } from '../registry.ts';

const PODS = {
  worker: alpha('kubelet_pod_worker_duration_seconds', 'Duration of the work for a pod, by operation.', [
    'operation_type',
  ]),
  workerStart: alpha(
    'kubelet_pod_worker_start_duration_seconds',
    'Time from when the node first sees a pod until the work for it starts.',
  ),
  start: alpha('kubelet_pod_start_duration_seconds', 'Time from when the node first sees a pod until it runs.'),
  startTotal: alpha(
    'kubelet_pod_start_total_duration_seconds',
    'Time from the creation of a pod until the API server knows that its containers run.',
    [],
  ),
  startSli: alpha(
    'kubelet_pod_start_sli_duration_seconds',
    'Time from the creation of a pod until the API server knows that its containers run, without pulls and init containers, for pods with only ephemeral volumes.',
    [],
  ),
  firstNetworkPod: internal(
    'kubelet_first_network_pod_start_sli_duration_seconds',
    'Value of kubelet_pod_start_sli_duration_seconds for the first pod without hostNetwork.',
  ),
  restarted: alpha(
    'kubelet_restarted_pods_total',
    'Pods that were removed and added again with the same UID before they had terminated.',
    ['static'],
  ),
  statusSync: alpha(
    'kubelet_pod_status_sync_duration_seconds',
    "Time from a change of a pod's status until the API server has it.",
  ),
  containersPerPod: alpha('kubelet_containers_per_pod_count', 'Number of containers per pod.'),
  terminated: alpha('kubelet_terminated_containers_total', 'Container terminations.', [
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
  rejections: alpha('kubelet_admission_rejections_total', 'Pods that the node did not admit, by reason.', ['reason']),
};

/** Registers the families about the starts, syncs and terminations of pods. */
export const podFamilies = ({ histogram, counter, gauge }: Registry) => ({
  firstNetworkPod: gauge(PODS.firstNetworkPod),
  restarted: counter(PODS.restarted),
  worker: histogram(PODS.worker, DEFAULT_BUCKETS),
  workerStart: histogram(PODS.workerStart, DEFAULT_BUCKETS),
  start: histogram(PODS.start, POD_START_BUCKETS),
  startTotal: histogram(PODS.startTotal, POD_START_BUCKETS),
  startSli: histogram(PODS.startSli, POD_START_BUCKETS),
  statusSync: histogram(PODS.statusSync, STATUS_SYNC_BUCKETS),
  containersPerPod: histogram(PODS.containersPerPod, [1, 2, 4, 8, 16]),
  terminated: counter(PODS.terminated),
  preemptions: counter(PODS.preemptions),
  orphaned: counter(PODS.orphaned),
  rejections: counter(PODS.rejections),
});

const CALLS = {
  startedPods: alpha('kubelet_started_pods_total', 'Requests to run a sandbox.'),
  startedPodsErrors: alpha('kubelet_started_pods_errors_total', 'Failed requests to run a sandbox.'),
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
  pull: alpha('kubelet_image_pull_duration_seconds', 'Duration of image pulls, by image size.', [
    'image_size_in_bytes',
  ]),
  cgroups: alpha('kubelet_cgroup_manager_duration_seconds', 'Duration of operations on pod cgroups.', [
    'operation_type',
  ]),
  ensuredImages: alpha(
    'kubelet_image_manager_ensure_image_requests_total',
    'Lookups of images for containers, by pull policy, presence, and whether a pull is required.',
    ['present_locally', 'pull_policy', 'pull_required'],
  ),
  sleepsCutShort: alpha('kubelet_sleep_action_terminated_early_total', 'Sleep hooks that were terminated early.'),
  httpFallbacks: alpha(
    'kubelet_lifecycle_handler_http_fallbacks_total',
    'HTTPS hooks that a server without TLS answered over HTTP.',
  ),
  imageVolumes: beta('kubelet_image_volume_requested_total', 'Image volumes requested by containers.'),
  imageVolumesMounted: beta('kubelet_image_volume_mounted_succeed_total', 'Image volumes that were mounted.'),
  imageVolumesFailed: beta('kubelet_image_volume_mounted_errors_total', 'Image volumes that could not be mounted.'),
};

/** Registers the families about the operations on behalf of pods. */
export const callFamilies = ({ histogram, counter }: Registry) => ({
  startedPods: counter(CALLS.startedPods),
  startedPodsErrors: counter(CALLS.startedPodsErrors),
  startedUserNamespacedPods: counter(CALLS.startedUserNamespacedPods),
  startedUserNamespacedPodsErrors: counter(CALLS.startedUserNamespacedPodsErrors),
  startedContainers: counter(CALLS.startedContainers),
  startedContainersErrors: counter(CALLS.startedContainersErrors),
  pull: histogram(CALLS.pull, PULL_BUCKETS),
  cgroups: histogram(CALLS.cgroups, DEFAULT_BUCKETS),
  ensuredImages: counter(CALLS.ensuredImages),
  sleepsCutShort: counter(CALLS.sleepsCutShort),
  httpFallbacks: counter(CALLS.httpFallbacks),
  imageVolumes: counter(CALLS.imageVolumes),
  imageVolumesMounted: counter(CALLS.imageVolumesMounted),
  imageVolumesFailed: counter(CALLS.imageVolumesFailed),
});
