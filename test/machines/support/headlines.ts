/** What each state that waits tells an operator, by machine: whoever adds a state writes its words here, and reads them aloud. */
export const HEADLINES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  nodeAgent: {
    starting: 'node host is waiting for the runtime to list its pods and containers',
    leaving: 'node host is waiting for the runtime to list the pods and containers to stop',
    recovering: 'node host is waiting for every pod source to list its pods',
    partial: 'node host is waiting for a pod source that is not readable yet and may own running pods',
    draining: 'node host is waiting for its pods to terminate',
  },
  pod: {
    awaitingOthers: 'pod web is waiting for the agent that created its sandbox to remove it (for 2m10s so far)',
    recalling: 'pod web is waiting for its previous restarts to be counted (for 2m10s so far)',
    admitting: 'pod web is waiting for the node to admit it (for 2m10s so far)',
    'preparing.directory': 'pod web is waiting for its directory to be created (for 2m10s so far)',
    'preparing.cgroup': 'pod web is waiting for its cgroup to be created (for 2m10s so far)',
    'preparing.awaitingRetry':
      'pod web is waiting for another attempt to create its directory and cgroup: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'preparing.volumes': 'pod web is waiting for its volumes to be mounted (for 2m10s so far)',
    'sandboxing.adopting': 'pod web is waiting for the runtime to report its sandbox (for 2m10s so far)',
    'sandboxing.clearing': 'pod web is waiting for its old sandbox to stop (for 2m10s so far)',
    'sandboxing.creatingSandbox.awaitingNetwork':
      'pod web is waiting for the network of the container runtime (for 2m10s so far)',
    'sandboxing.creatingSandbox.queued':
      'pod web is waiting in the start queue: place 1 of 1, 1 at a time, behind the start of container db of default/db',
    'sandboxing.creatingSandbox.running': 'pod web is waiting for its sandbox to be created (for 2m10s so far)',
    'sandboxing.unfit':
      'pod web is waiting for another attempt to create its sandbox (the last one was unusable): InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'sandboxing.awaitingCreateRetry':
      'pod web is waiting for another attempt to create its sandbox: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'sandboxing.awaitingRetry':
      'pod web is waiting for another attempt to ask the runtime about its sandbox: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'active.initializing.steady': 'pod web is waiting for its init containers to complete (for 2m10s so far)',
    'active.initializing.resizingPodCgroup': 'pod web is waiting for its cgroup to be resized (for 2m10s so far)',
    'active.initializing.awaitingPodCgroupRetry':
      'pod web is waiting for another attempt to resize its cgroup: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'active.restartingAll': 'pod web is waiting for all its containers to stop before they restart (for 2m10s so far)',
    'active.running.resizingPodCgroup': 'pod web is waiting for its cgroup to be resized (for 2m10s so far)',
    'active.running.awaitingPodCgroupRetry':
      'pod web is waiting for another attempt to resize its cgroup: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'resetting.verifying': 'pod web is waiting for the runtime to report its sandbox (for 2m10s so far)',
    'resetting.awaitingRetry':
      'pod web is waiting for another attempt to ask the runtime about its sandbox: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'resetting.draining': 'pod web is waiting for the containers of its lost sandbox to stop (for 2m10s so far)',
    'terminating.beginning':
      'pod web is terminating (Removed): waiting for its grace period to start (for 2m10s so far)',
    'terminating.containers.overdue':
      'pod web is terminating (Removed): waiting for its containers to stop (for 2m10s so far)',
    'terminating.containers.graceful':
      'pod web is terminating (Removed): waiting for its containers to stop until 12:03:10 (in 14s)',
    'terminating.stopping': 'pod web is terminating (Removed): waiting for its sandbox to stop (for 2m10s so far)',
    'terminating.awaitingStopRetry':
      'pod web is terminating (Removed): waiting for another attempt to stop its sandbox: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'terminating.volumes':
      'pod web is terminating (Removed): waiting for its volumes to be unmounted (for 2m10s so far)',
    'terminating.cgroup': 'pod web is terminating (Removed): waiting for its cgroup to be removed (for 2m10s so far)',
    'terminating.awaitingCgroupRetry':
      'pod web is terminating (Removed): waiting for another attempt to remove its cgroup: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'terminating.removing':
      'pod web is terminating (Removed): waiting for its sandbox to be removed (for 2m10s so far)',
    'terminating.awaitingRemoveRetry':
      'pod web is terminating (Removed): waiting for another attempt to remove its sandbox: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'terminating.restartingRuntime':
      'pod web is terminating (Removed): waiting for the restart of the container runtime to be requested (for 2m10s so far)',
    'terminating.erasing':
      'pod web is terminating (Removed): waiting for its directory to be removed (for 2m10s so far)',
    'terminating.awaitingEraseRetry':
      'pod web is terminating (Removed): waiting for another attempt to remove its directory: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'terminating.stoppingActors':
      'pod web is terminating (Removed): waiting for the actors of its containers and volumes to stop (for 2m10s so far)',
  },
  volume: {
    gettingImage: 'volume data is not mounted yet: waiting for its image (for 2m10s so far)',
    'mounting.current': 'volume data is not mounted yet: waiting for its mount to complete until 12:03:10 (in 14s)',
    'mounting.outdated': 'volume data is not mounted yet: waiting for its mount to complete until 12:03:10 (in 14s)',
    awaitingRetry: 'volume data is not mounted: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'mounted.awaitingRenewal': 'pod web is running, with 0 of 0 containers ready',
    'mounted.refreshing.current': 'pod web is running, with 0 of 0 containers ready',
    'mounted.refreshing.outdated': 'pod web is running, with 0 of 0 containers ready',
    'mounted.settling.outdated': 'pod web is running, with 0 of 0 containers ready',
    'mounted.awaitingRefresh': 'pod web is running, with 0 of 0 containers ready',
    unmounting:
      'pod web is terminating (Removed): volume data is waiting for its unmount to complete until 12:03:10 (in 14s)',
    awaitingUnmountRetry:
      'pod web is terminating (Removed): volume data is waiting for another attempt to unmount it: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
  },
  imageOfVolume: {
    checking: 'volume data is not mounted yet: waiting for the runtime to look for image model:1 (for 2m10s so far)',
    checkingAgain:
      'volume data is not mounted yet: waiting for the runtime to look for image model:1 again (for 2m10s so far)',
    queued: 'pod web is waiting in the pull queue: place 1 of 1, 1 at a time, behind the pull of db:1 for default/db',
    pulling: 'volume data is not mounted yet: waiting for the pull of image model:1 until 12:03:10 (in 14s)',
    failed: 'volume data is not mounted: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    backingOff: 'volume data is not mounted: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    missing:
      'volume data is not mounted yet: waiting for image model:1 to be loaded by hand (pull policy Never) until 12:03:10 (in 14s)',
    awaitingRetry: 'volume data is not mounted: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
  },
  container: {
    'pending.gettingImage': 'container app is waiting for its image (for 2m10s so far)',
    'pending.awaitingVolumes': 'container app is waiting for its volumes to be mounted (for 2m10s so far)',
    'pending.countingRestarts': 'container app is waiting for its previous restarts to be counted (for 2m10s so far)',
    'adopting.asking': 'container app is waiting for the runtime to report it (for 2m10s so far)',
    'adopting.awaitingRetry':
      'container app is waiting for another attempt to get its status from the runtime: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'adopting.countingRestarts': 'container app is waiting for its previous restarts to be counted (for 2m10s so far)',
    'pending.waiting': 'container app is waiting for the containers before it (for 2m10s so far)',
    'launching.readyToCreate':
      'container app is waiting for its turn to start (containers of a pod start one at a time) (for 2m10s so far)',
    'launching.configuring.current':
      'container app is waiting for the ConfigMaps and Secrets of its environment (for 2m10s so far)',
    'launching.configuring.outdated':
      'container app is waiting for the ConfigMaps and Secrets of its environment (for 2m10s so far)',
    'launching.making.queued':
      'container app is waiting in the start queue: place 1 of 1, 1 at a time, behind the start of container db of default/db',
    'launching.making.creating': 'container app is waiting for the runtime to create it (for 2m10s so far)',
    'launching.making.starting': 'container app is waiting for the runtime to start it (for 2m10s so far)',
    'launching.awaitingRetry':
      'container app is waiting for another attempt to start it: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'launching.runningPostStart':
      'container app is running but not ready: waiting for its postStart hook (exec /setup)',
    'running.startingUp': 'container app is running but not ready: waiting for its startup probe',
    'running.resizing': 'container app is running but not ready: waiting for its new resources to be applied',
    'running.awaitingResize':
      'container app is running but waiting for another attempt to apply its new resources: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'running.verifying':
      'container app is running but not ready: waiting for the runtime to report whether it still exists',
    'running.awaitingVerification':
      'container app is running but waiting for another attempt to ask the runtime whether it still exists: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'stopping.runningPreStop.bounded':
      'pod web is terminating (Removed): container app has until 12:03:10 (in 14s) to stop; it is waiting for its preStop hook (sleep 5s)',
    'stopping.runningPreStop.unbounded':
      'pod web is terminating (Removed): waiting for container app to stop; it is waiting for its preStop hook (sleep 5s)',
    'stopping.awaitingOthers':
      'pod web is terminating (Removed): container app has until 12:03:10 (in 14s) to stop; it is waiting for the containers that stop before it',
    'stopping.killing.overdue':
      'pod web is terminating (Removed): waiting for the runtime to kill container app until 12:03:10 (in 14s)',
    'stopping.killing.graceful': 'pod web is terminating (Removed): container app has until 12:03:10 (in 14s) to stop',
    'stopping.awaitingRetry':
      'pod web is terminating (Removed): container app is waiting for another attempt to stop it: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    'ended.startFailed': 'container app is waiting for the end of its crash-loop back-off until 12:03:10 (in 14s)',
    'ended.awaitingReset': 'container app is waiting for all containers of its pod to restart (for 2m10s so far)',
    'ended.backingOff': 'container app is waiting for the end of its crash-loop back-off until 12:03:10 (in 14s)',
    'removing.asking': 'container app is waiting for the runtime to remove it (for 2m10s so far)',
    'removing.awaitingRetry':
      'container app is waiting for another attempt to remove it: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
  },
  image: {
    checking: 'container app is waiting for the runtime to look for image app:1 (for 2m10s so far)',
    checkingAgain: 'container app is waiting for the runtime to look for image app:1 again (for 2m10s so far)',
    queued:
      'container app is waiting in the pull queue: place 1 of 1, 1 at a time, behind the pull of db:1 for default/db',
    pulling: 'container app is waiting for the pull of image app:1 until 12:03:10 (in 14s)',
    failed:
      'container app is waiting for another attempt to pull image app:1: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    backingOff:
      'container app is waiting for another attempt to pull image app:1: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
    missing:
      'container app is waiting for image app:1 to be loaded by hand (pull policy Never) until 12:03:10 (in 14s)',
    awaitingRetry:
      'container app is waiting for another attempt to pull image app:1: InternalError: what went wrong; next attempt at 12:03:10 (in 14s)',
  },
  probe: {
    'unknown.spreading': 'waiting for its first attempt, after a random delay',
    'unknown.waiting': 'waiting for its next attempt until',
    'unknown.probing': 'waiting for the result of its attempt',
    'passing.spreading': 'waiting for its first attempt, after a random delay',
    'passing.waiting': 'waiting for its next attempt until',
    'passing.probing': 'waiting for the result of its attempt',
    'failing.spreading': 'waiting for its first attempt, after a random delay',
    'failing.waiting': 'waiting for its next attempt until',
    'failing.probing': 'waiting for the result of its attempt',
  },
  garbage: {
    waiting: 'waiting for the next garbage collection until',
    asking: 'waiting for the node to list its pods',
    removing: 'waiting for dead containers and sandboxes to be removed',
    surveying: 'waiting for the scan for leftover pod files',
  },
  logRotation: {
    waiting: 'waiting for the next check of log sizes until',
    asking: 'waiting for the node to list its pods',
    rotating: 'waiting for logs to be rotated',
  },
  pace: { pausing: 'waiting for its turn to send more commands to its containers and volumes' },
  activeDeadline: {
    counting: 'waiting for the activeDeadlineSeconds of its pod to pass until',
    dating: 'waiting for the grace period of its pod to start',
    ending: 'waiting for its pod to terminate until',
  },
  cgroups: {
    settingUp: 'waiting for the parent cgroups of pods to be set up',
    'enforced.looking': 'waiting for the parent cgroups of pods to be set up',
    'enforced.waiting': 'waiting for the next check for pods of other agents in the cgroups until',
    'awaitingEnforcement.looking': 'waiting for the parent cgroups of pods to be set up',
    'awaitingEnforcement.waiting': 'waiting for another attempt to set the limit of all pods until',
    'sharedWithOthers.looking': 'waiting for the parent cgroups of pods to be set up',
    'sharedWithOthers.waiting': 'waiting for pods of other agents to leave the cgroups until',
  },
  admission: {
    readingNode: 'waiting for the API server to return the labels of the node',
  },
  limiter: {
    full: 'waiting for one of its slots to be released',
    fullForNow: 'waiting for one of its slots to be released, or its holders to count as slow until',
  },
  statusSink: {
    gathering: 'waiting for further changes of pods whose status can wait',
    sending: 'waiting for pod statuses to be acknowledged',
    awaitingRetry: 'waiting for another attempt to send unacknowledged statuses until',
  },
  registration: {
    awaitingRuntime: 'waiting for the runtime to respond, before the node is registered until',
    registering: 'waiting for the Node object to be registered',
    awaitingRegistration: 'waiting for another attempt to register the node until',
    creatingCsiNode: 'waiting for the CSINode object to be created',
    awaitingCsiNode: 'waiting for another attempt to create the CSINode object until',
  },
  nodeStatus: {
    awaitingRegistration: 'waiting for the node to be registered',
    settling: 'waiting for the node to be ready, before its status is reported until',
    reporting: 'waiting for the node status to be acknowledged',
    current: 'waiting for the next check of the node status until',
    awaitingRetry: 'waiting for another attempt to report the node status until',
  },
  mirror: {
    held: 'waiting for the static pod of this name to terminate',
    awaitingNode: 'waiting for the node to be registered',
    creating: 'waiting for the mirror pod to be created',
    awaitingWatch: 'waiting for the watch of pods to show the mirror pod until',
    removing: 'waiting for the mirror pod to be removed',
    awaitingRetry: 'waiting for another attempt to bring the mirror pod up to date until',
  },
  certificate: {
    reading: 'waiting for the files of its certificate to be read',
    awaitingFiles: 'waiting for another attempt to read the files of its certificate until',
    current: 'waiting for the certificate to be due for renewal until',
    awaitingNames: 'waiting for an IP address of its Node, which a certificate has to name',
    requesting: 'waiting for a certificate to be requested',
    awaitingApproval: 'waiting for its request for a certificate to be approved until',
    awaitingRetry: 'waiting for another attempt to get a certificate until',
  },
  lease: {
    renewing: 'waiting for the lease to be renewed',
    current: 'waiting for the next renewal of the lease until',
    awaitingNode: 'waiting for the Node object, without which there is no lease until',
    awaitingRetry: 'waiting for another attempt to renew the lease until',
  },
};
