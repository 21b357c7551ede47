/** What each state of a pod means. */
export const pod: Readonly<Record<string, string>> = {
  new: 'Its actor has just begun, and looks at what is known of the pod from before.',
  recalling: 'Its restart counts are read from the logs of earlier runs, where the node does not remember them.',
  recalled: 'What earlier runs have left is known: now it is decided whether the pod goes on, begins, or ends.',
  awaitingOthers: 'Another agent has made its sandbox. Nothing is done to it until that agent has removed it.',
  admitting:
    'The node checks whether the pod fits: its resources, ports, node selector, and the host features it needs.',
  refused: 'The node has not admitted it. It is Failed with the reason, and stays so until no source wants it.',
  preparing: 'What the pod needs on the host before anything of it runs.',
  'preparing.directory': 'Its directory below the root directory is created.',
  'preparing.cgroup': 'Its cgroup is created with the limits of the whole pod.',
  'preparing.awaitingRetry': 'The directory or the cgroup could not be created. It is tried again after a wait.',
  'preparing.volumes': 'Its volumes are mounted. Containers start as soon as the volumes that they mount are there.',
  sandboxing: 'It gets a sandbox: the network namespace and address that its containers share.',
  'sandboxing.adopting': 'The runtime has a sandbox of it from before, and is asked about it.',
  'sandboxing.deciding': 'The sandbox that the runtime shows is used again, replaced, or made for the first time.',
  'sandboxing.clearing': 'An old sandbox that cannot be used again is stopped, with all that still runs in it.',
  'sandboxing.creatingSandbox': 'A new sandbox is made, in its turn.',
  'sandboxing.creatingSandbox.choosing': 'It is decided whether the network of the runtime has to be waited for.',
  'sandboxing.creatingSandbox.awaitingNetwork':
    'The network plugin is not ready. The pod waits until the runtime reports it ready again; an event says so meanwhile.',
  'sandboxing.creatingSandbox.queued': 'As many starts as the node allows are under way. It waits for its turn.',
  'sandboxing.creatingSandbox.running': 'The runtime creates the sandbox, and the network plugin gives it an address.',
  'sandboxing.awaitingCreateRetry': 'The sandbox could not be created. It is tried again after a wait.',
  'sandboxing.unfit':
    'The new sandbox is of no use: it has no address, or was made for a network mode that is not wanted any more. Another one is made.',
  'sandboxing.awaitingRetry': 'The runtime could not say what sandbox there is. It is asked again after a wait.',
  active: 'The pod has its sandbox, and its containers are being run.',
  'active.choosing': 'It is decided what is next: init containers, the other containers, or a restart of all.',
  'active.initializing': 'Init containers run one after the other, each to its end; sidecars go on running.',
  'active.initializing.steady': 'An init container runs, or a sidecar starts up.',
  'active.initializing.resizingPodCgroup':
    'The cgroup of the pod gets its new resources, once its containers have theirs.',
  'active.initializing.awaitingPodCgroupRetry':
    'The cgroup could not be resized. The containers go on with what they have.',
  'active.restartingAll':
    'A restart rule of a container restarts all of them in place. Sandbox, address and volumes stay; the next run begins when all have stopped.',
  'active.asBefore': 'Its sandbox is there after all: it goes on where it was.',
  'active.running': 'Its containers run, each by its own restart policy.',
  'active.running.steady': 'All that the pod wants has been done. It rests until something changes.',
  'active.running.resizingPodCgroup':
    'The limits of its cgroup are changed to fit resources that were changed in place.',
  'active.running.awaitingPodCgroupRetry':
    'The limits of its cgroup could not be changed. It is tried again after a wait.',
  resetting: 'Its sandbox seems lost. Nothing new starts in it until that is clear.',
  'resetting.verifying':
    'A list of the runtime did not show the sandbox, but may be old. The runtime is asked about this very one.',
  'resetting.awaitingRetry': 'The runtime could not say what became of the sandbox. It is asked again after a wait.',
  'resetting.draining': 'The sandbox is gone. What still runs of it ends, and then the pod gets a new one.',
  terminating: 'The pod ends: containers, sandbox, volumes, cgroup and directory go, in this order.',
  'terminating.beginning': 'The grace of the pod begins now, for containers that go on while others have ended.',
  'terminating.containers': 'Its containers are asked to end, sidecars after those that need them.',
  'terminating.containers.graceful':
    'Hooks and processes have until the end of the grace period to finish by themselves.',
  'terminating.containers.overdue':
    'The grace period is over. What is left is killed, which takes as long as the runtime needs.',
  'terminating.stopping': 'The runtime stops the sandbox: the network plugin takes the address back.',
  'terminating.awaitingStopRetry': 'The sandbox could not be stopped. It is tried again after a wait.',
  'terminating.volumes': 'Its volumes are unmounted, now that nothing uses them.',
  'terminating.cgroup': 'Its cgroup is removed, with any process that is left in it.',
  'terminating.awaitingCgroupRetry': 'The cgroup could not be removed. It is tried again after a wait.',
  'terminating.removing':
    'The runtime removes the sandbox and its dead containers, before the data that they may still need.',
  'terminating.restartingRuntime':
    'The runtime has lost track of a container and will not remove the sandbox. It is asked to restart, so that it looks again.',
  'terminating.awaitingRemoveRetry': 'The sandbox could not be removed. It is tried again after a wait.',
  'terminating.stoppingActors':
    'Nothing is left of it but its actors. Those of a pod with many containers and volumes stop in batches.',
  'terminating.erasing': 'Its directory is removed. Only what this agent has put there is deleted.',
  'terminating.awaitingEraseRetry': 'The directory could not be removed. It is tried again after a wait.',
  finished: 'It has ended by itself, and is still wanted. Its dead containers stay, for their logs and for its status.',
  terminated: 'Nothing is left of it on the node.',
  broken: 'A fault of statelet itself. The pod is built anew at the next tick; nothing that runs is harmed.',
};
