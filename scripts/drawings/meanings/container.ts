/** What each state of a container means. */
export const container: Readonly<Record<string, string>> = {
  new: 'Its actor has just begun.',
  adopting: 'The runtime has a container of it from before: what became of that is found out first.',
  'adopting.asking': 'The runtime is asked about the container.',
  'adopting.awaitingRetry': 'The runtime could not say how it is. It is asked again after a wait.',
  'adopting.deciding': 'It runs on as it is, is stopped, or starts again, as its pod wants it by now.',
  'adopting.countingRestarts': 'The runtime has nothing of it any more: how often it has run is read from its logs.',
  pending: 'It is to run, and does not yet.',
  'pending.waiting': 'Init containers and sidecars that come before it have not got so far yet.',
  'pending.restarting': 'It starts again: its back-off is over, or there is none.',
  'pending.reset': 'The whole pod restarts in place. It begins anew as soon as its pod says so.',
  'pending.choosing': 'It is decided what has to be there before it can be created.',
  'pending.gettingImage': 'Its image is looked for, and pulled where its pull policy says so.',
  'pending.awaitingVolumes':
    'The image of a volume that it mounts cannot be had yet. Containers that do not mount it start without it.',
  'pending.countingRestarts': 'How often it has run before is read from its logs.',
  launching: 'It is being created and started.',
  'launching.readyToCreate': 'All is there. The containers of a pod are started one at a time: it waits for its turn.',
  'launching.configuring':
    'The ConfigMaps and Secrets that its variables are taken from are read, before it takes a start slot.',
  'launching.configuring.current': 'They have not changed since they were asked for.',
  'launching.configuring.outdated':
    'They have changed since they were asked for: if one was missing, it is looked for again.',
  'launching.making': 'It is created and started, within one of the start slots of the node.',
  'launching.making.queued': 'As many starts as the node allows are under way. It waits for a slot.',
  'launching.making.creating': 'The runtime creates the container.',
  'launching.making.starting': 'The runtime starts its process.',
  'launching.awaitingRetry':
    'It could not be created, or the call to start it was lost. It is tried again after a wait.',
  'launching.started': 'Its process runs. Its postStart hook is next, where it has one.',
  'launching.runningPostStart':
    'Its postStart hook runs. Until it is over no other container of the pod starts; if it fails, this container is killed.',
  running: 'Its process runs.',
  'running.choosing': 'It is decided whether it still has to start up.',
  'running.startingUp':
    'Its startup probe has not passed yet. Until then it is not started, and no other probe asks it.',
  'running.begun': 'It has started: its liveness and readiness probes begin.',
  'running.resuming': 'Something has come between, as a resize. It goes on where it was.',
  'running.steady': 'It runs as it should.',
  'running.resizing': 'The runtime changes its resources while it runs.',
  'running.awaitingResize':
    'Its resources could not be changed. It is tried again after a wait; it runs on with the old ones.',
  'running.verifying':
    'A list of the runtime did not show it, but may be old. The runtime is asked about this very container.',
  'running.awaitingVerification': 'The runtime could not say whether it still exists. It is asked again after a wait.',
  stopping: 'It is to end: its pod ends or restarts, a probe has failed, or it has changed.',
  'stopping.choosing': 'It is decided what comes first: its preStop hook, containers that still need it, or its end.',
  'stopping.runningPreStop': 'Its preStop hook runs, within the grace period.',
  'stopping.runningPreStop.choosing': 'It is decided whether the hook has a deadline besides its own grace.',
  'stopping.runningPreStop.bounded': 'The hook has until the deadline of the pod.',
  'stopping.runningPreStop.unbounded': 'The pod has no deadline. The hook has the grace period of the container.',
  'stopping.awaitingOthers':
    'It is a sidecar. It runs on until the containers that may need it have stopped, but not beyond the deadline.',
  'stopping.killing': 'Its process is asked to end, and killed if it does not.',
  'stopping.killing.graceful':
    'It has got its stop signal (SIGTERM unless it names another) and has until the end of the grace period.',
  'stopping.killing.overdue':
    'The grace period is over. It is killed by SIGKILL, which takes as long as the runtime needs.',
  'stopping.awaitingRetry': 'The runtime could not stop it. It is tried again after a wait.',
  ended: 'Its process has ended. Its restart policy, its restart rules and its exit code say what is next.',
  'ended.choosing': 'It is decided whether it runs again.',
  'ended.startFailed': 'It could not be started. The error is shown for some seconds before CrashLoopBackOff is.',
  'ended.backingOff': 'CrashLoopBackOff: it will run again after a wait that doubles each time, up to five minutes.',
  'ended.awaitingReset':
    'By its restart rules its end restarts the whole pod in place. It waits for the other containers to stop.',
  'ended.succeeded': 'It has ended well, and does not run again.',
  'ended.failed': 'It has ended with a failure, and its policy does not let it run again.',
  stopped: 'It has been stopped for good, and stays for its log and its status.',
  removing: 'It is removed from the runtime, so that the next run can take its place.',
  'removing.asking': 'The runtime removes it.',
  'removing.awaitingRetry': 'The runtime could not remove it. It is tried again after a wait.',
  removed: 'Nothing is left of it at the runtime.',
};
