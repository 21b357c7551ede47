/** Defines the metric families for pods and their containers (`pkg/kubelet/metrics/metrics.go`). */
import {
  ADMISSION_BUCKETS_MS,
  DEFAULT_BUCKETS,
  POD_START_BUCKETS,
  PULL_BUCKETS,
  STATUS_SYNC_BUCKETS,
} from '../buckets.ts';
import { alpha, beta, internal, type Registry } from '../registry.ts';

const POD_FAMILIES = {
  workerDuration: alpha('kubelet_pod_worker_duration_seconds', 'Duration of the work for a pod, by operation.', [
    'operation_type',
  ]),
  workerStartDuration: alpha(
    'kubelet_pod_worker_start_duration_seconds',
    'Time from when the node first sees a pod until the work for it starts.',
  ),
  admissionDuration: alpha(
    'kubelet_topology_manager_admission_duration_ms',
    'Time in milliseconds from when a pod requests admission until the decision, including the wait for an earlier pod of the same name, and the allocation of its CPUs, memory and devices.',
  ),
  startDuration: alpha('kubelet_pod_start_duration_seconds', 'Time from when the node first sees a pod until it runs.'),
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
  firstNetworkPodStartDuration: internal(
    'kubelet_first_network_pod_start_sli_duration_seconds',
    'Value of kubelet_pod_start_sli_duration_seconds for the first pod without hostNetwork.',
  ),
  restartedPods: alpha(
    'kubelet_restarted_pods_total',
    'Pods that were removed and added again with the same UID before they had terminated.',
    ['static'],
  ),
  statusSyncDuration: alpha(
    'kubelet_pod_status_sync_duration_seconds',
    "Time from a change of a pod's status until the API server has it.",
  ),
  containersPerPod: alpha('kubelet_containers_per_pod_count', 'Number of containers per pod.'),
  terminatedContainers: alpha('kubelet_terminated_containers_total', 'Container terminations.', [
    'container_type',
    'exit_code',
    'reason',
  ]),
  preemptions: alpha(
    'kubelet_preemptions',
    'Pods that were terminated for a critical pod, by the resource that the critical pod was short of.',
    ['preemption_signal'],
  ),
  evictions: alpha('kubelet_evictions', 'Pods that were evicted, by the signal or the limit of their disk usage.', [
    'eviction_signal',
  ]),
  evictionStatsAge: alpha(
    'kubelet_eviction_stats_age_seconds',
    'Age of the figures on which a pod was chosen for eviction, by signal.',
    ['eviction_signal'],
  ),
  orphanedPods: alpha(
    'kubelet_orphaned_runtime_pods_total',
    'Running pods at the runtime that no source wants and that the node had not seen before.',
  ),
  rejections: alpha('kubelet_admission_rejections_total', 'Pods that the node did not admit, by reason.', ['reason']),
};

/** Registers the metric families for the starts, syncs and terminations of pods. */
export const registerPodFamilies = ({ histogram, counter, gauge }: Registry) => ({
  firstNetworkPodStartDuration: gauge(POD_FAMILIES.firstNetworkPodStartDuration),
  restartedPods: counter(POD_FAMILIES.restartedPods),
  workerDuration: histogram(POD_FAMILIES.workerDuration, DEFAULT_BUCKETS),
  workerStartDuration: histogram(POD_FAMILIES.workerStartDuration, DEFAULT_BUCKETS),
  admissionDuration: histogram(POD_FAMILIES.admissionDuration, ADMISSION_BUCKETS_MS),
  startDuration: histogram(POD_FAMILIES.startDuration, POD_START_BUCKETS),
  startTotal: histogram(POD_FAMILIES.startTotal, POD_START_BUCKETS),
  startSli: histogram(POD_FAMILIES.startSli, POD_START_BUCKETS),
  statusSyncDuration: histogram(POD_FAMILIES.statusSyncDuration, STATUS_SYNC_BUCKETS),
  containersPerPod: histogram(POD_FAMILIES.containersPerPod, [1, 2, 4, 8, 16]),
  terminatedContainers: counter(POD_FAMILIES.terminatedContainers),
  preemptions: counter(POD_FAMILIES.preemptions),
  evictions: counter(POD_FAMILIES.evictions),
  evictionStatsAge: histogram(POD_FAMILIES.evictionStatsAge, DEFAULT_BUCKETS),
  orphanedPods: counter(POD_FAMILIES.orphanedPods),
  rejections: counter(POD_FAMILIES.rejections),
});

const CALL_FAMILIES = {
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
  pullDuration: alpha('kubelet_image_pull_duration_seconds', 'Duration of image pulls, by image size.', [
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
  sleepsTerminatedEarly: alpha(
    'kubelet_sleep_action_terminated_early_total',
    'Sleep hooks that were terminated early.',
  ),
  httpFallbacks: alpha(
    'kubelet_lifecycle_handler_http_fallbacks_total',
    'HTTPS hooks that a server without TLS answered over HTTP.',
  ),
  requestedImageVolumes: beta('kubelet_image_volume_requested_total', 'Image volumes requested by containers.'),
  mountedImageVolumes: beta('kubelet_image_volume_mounted_succeed_total', 'Image volumes that were mounted.'),
  failedImageVolumes: beta('kubelet_image_volume_mounted_errors_total', 'Image volumes that could not be mounted.'),
};

/** Registers the metric families for pod operations. */
export const registerCallFamilies = ({ histogram, counter }: Registry) => ({
  startedPods: counter(CALL_FAMILIES.startedPods),
  startedPodsErrors: counter(CALL_FAMILIES.startedPodsErrors),
  startedUserNamespacedPods: counter(CALL_FAMILIES.startedUserNamespacedPods),
  startedUserNamespacedPodsErrors: counter(CALL_FAMILIES.startedUserNamespacedPodsErrors),
  startedContainers: counter(CALL_FAMILIES.startedContainers),
  startedContainersErrors: counter(CALL_FAMILIES.startedContainersErrors),
  pullDuration: histogram(CALL_FAMILIES.pullDuration, PULL_BUCKETS),
  cgroups: histogram(CALL_FAMILIES.cgroups, DEFAULT_BUCKETS),
  ensuredImages: counter(CALL_FAMILIES.ensuredImages),
  sleepsTerminatedEarly: counter(CALL_FAMILIES.sleepsTerminatedEarly),
  httpFallbacks: counter(CALL_FAMILIES.httpFallbacks),
  requestedImageVolumes: counter(CALL_FAMILIES.requestedImageVolumes),
  mountedImageVolumes: counter(CALL_FAMILIES.mountedImageVolumes),
  failedImageVolumes: counter(CALL_FAMILIES.failedImageVolumes),
});
