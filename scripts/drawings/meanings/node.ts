/** What each state of the node and of its own parts means. */
type Meanings = Readonly<Record<string, string>>;

export const nodeAgent: Meanings = {
  starting: 'The runtime is asked for its name and for all that it runs. No pod is touched before that is known.',
  leaving:
    'It is to stop before it knows what runs. It waits for the first list, for a limited time, to end what it should.',
  recovering:
    'It waits until every source has told all of its pods. Before that nobody can say which pods are unwanted.',
  partial: 'A source cannot be read and may own running pods. These are left alone until it can be.',
  running: 'All sources are known: what they want runs, and nothing else of this agent does.',
  draining: 'It is to stop with its pods: they end, each within its grace period.',
  stopped: 'It has stopped. Pods that were not to end run on.',
  broken:
    'A part that it needs has failed, as a limiter or a feed. It ends with an error rather than go on without it.',
};

export const limiter: Meanings = {
  open: 'It has free slots: who asks gets one at once.',
  full: 'All slots are taken. Who asks waits in line, fairly between pods.',
  fullForNow:
    'All slots are taken by calls that take unusually long. After a time those count as slow, and give way to others.',
};

export const admission: Meanings = {
  open: 'It keeps the account of what pods that are admitted have taken of the node: processors, memory, ports, and the number of pods.',
  readingNode:
    'Only the labels of the node speak against a pod. The API server is asked whether they are others by now, before the pod is refused.',
};

export const cgroups: Meanings = {
  settingUp: 'The cgroups above those of the pods are created, with the limits of the node.',
  enforced: 'The limits of all pods together are set.',
  'enforced.waiting': 'It waits for its next look at whether somebody else uses these cgroups.',
  'enforced.looking': 'The cgroups are looked at, and set up again where something is missing.',
  awaitingEnforcement: 'A limit could not be set.',
  'awaitingEnforcement.waiting': 'It is tried again after a wait.',
  'awaitingEnforcement.looking': 'The cgroups are looked at, and the limit is set once more.',
  sharedWithOthers:
    'Pods of another agent are in these cgroups. No limit is set for all pods together; each pod has its own.',
  'sharedWithOthers.waiting': 'It waits for its next look at whether the others have left.',
  'sharedWithOthers.looking': 'The cgroups are looked at.',
  forbidden: 'The host lets nobody create cgroups. Pods have those that the runtime makes.',
  unused: 'The configuration leaves cgroups to the runtime (cgroupsPerQOS: false).',
};

export const garbage: Meanings = {
  waiting: 'It waits for its next turn.',
  asking: 'The node is asked which pods there are.',
  surveying: 'The directories of pods are looked through for what nobody owns any more.',
  removing: 'Dead containers beyond those that are to be kept are removed with their logs, and so are old sandboxes.',
};

export const logRotation: Meanings = {
  waiting: 'It waits for its next look at the sizes of logs.',
  asking: 'The node is asked which containers run.',
  rotating: 'Logs that have become too large are set aside and compressed, and the oldest are removed.',
};

export const statusSink: Meanings = {
  idle: 'The latest status of every pod has been received.',
  gathering: 'What has changed can wait a moment: it is sent with what follows.',
  sending: 'Statuses are being sent; the latest one of each pod counts.',
  awaitingRetry: 'Statuses could not be sent. It is tried again after a wait, with the latest ones.',
};
