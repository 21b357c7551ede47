/** What each state of the other parts of a pod means. */
type Meanings = Readonly<Record<string, string>>;

export const volume: Meanings = {
  new: 'Its actor has just begun.',
  mounting: 'It is mounted into the directory of the pod.',
  'mounting.current': 'What it shows has not changed since it was asked for.',
  'mounting.outdated':
    'What it shows has changed since it was asked for: once it is mounted, it is brought up to date.',
  awaitingRetry: 'It could not be mounted. It is tried again after a wait; containers that mount it wait as long.',
  gettingImage: 'It is an image volume: its image is looked for, and pulled where its pull policy says so.',
  mounted: 'It is there for the containers that mount it.',
  'mounted.steady': 'It is mounted, and shows what it should.',
  'mounted.awaitingRenewal': 'It shows a token, which is renewed long before it expires, whatever the clock is set to.',
  'mounted.refreshing':
    'What it shows has changed, or its token gets old. Its files are replaced at once, while containers go on.',
  'mounted.refreshing.current': 'What it shows has not changed since it was asked for.',
  'mounted.refreshing.outdated': 'What it shows has changed since it was asked for: its files are updated once more.',
  'mounted.settling': 'Its files were updated. The next update comes a second later at the earliest.',
  'mounted.settling.current': 'It shows what it should.',
  'mounted.settling.outdated': 'What it shows has changed once more. Its files are updated when the second is over.',
  'mounted.awaitingRefresh':
    'Its files could not be updated. It is tried again after a wait; the old ones stay meanwhile.',
  unmounting: 'The pod ends: it is unmounted, and what this agent has put there is removed.',
  awaitingUnmountRetry: 'It could not be unmounted. It is tried again after a wait.',
  unmounted: 'Nothing is left of it.',
};

export const image: Meanings = {
  checking: 'The runtime is asked whether it has the image.',
  missing:
    'The runtime does not have it, and the policy Never forbids a pull. It is looked for again in case somebody loads it.',
  queued: 'As many pulls as the node allows are under way. It waits for a slot.',
  checkingAgain: 'It had to wait for its slot. Another container may have pulled the same image meanwhile.',
  pulling: 'The runtime pulls the image.',
  failed: 'ErrImagePull: the pull has failed. Its error is shown for some seconds before ImagePullBackOff is.',
  backingOff: 'ImagePullBackOff: the next attempt comes after a wait that doubles each time, up to five minutes.',
  awaitingRetry: 'The runtime could not be asked, or went away during the pull. It is tried again after a wait.',
  found: 'The runtime has the image.',
};

export const probe: Meanings = {
  beginning: 'It begins with the result that is known, so that a pod that was ready is never shown as not ready.',
  unknown: 'It has no result yet.',
  'unknown.choosing': 'It is decided when the first attempt is due.',
  'unknown.spreading': 'After a restart of the agent the first attempts are spread over their period.',
  'unknown.waiting': 'It waits for its initial delay or its period to pass.',
  'unknown.probing': 'An attempt is under way; it fails when its timeout is over.',
  passing: 'Its last result is success.',
  'passing.choosing': 'It is decided when the next attempt is due.',
  'passing.spreading': 'After a restart of the agent the first attempts are spread over their period.',
  'passing.waiting': 'All is well. The next attempt comes when its period has passed.',
  'passing.probing': 'An attempt is under way; it fails when its timeout is over.',
  failing: 'Its last result is failure: a container is not ready, or is killed, by what the probe is for.',
  'failing.choosing': 'It is decided when the next attempt is due.',
  'failing.spreading': 'After a restart of the agent the first attempts are spread over their period.',
  'failing.waiting': 'The next attempt, which may succeed, comes when its period has passed.',
  'failing.probing': 'An attempt is under way; it fails when its timeout is over.',
};

export const pace: Meanings = {
  pausing:
    'The pod has sent a batch of commands to its containers. Everything else on the node has its turn before the next.',
  over: 'The pod has been called to send the next batch.',
};

export const activeDeadline: Meanings = {
  choosing: 'It is decided whether the pod has a deadline, and whether it is over.',
  counting:
    'The activeDeadlineSeconds of the pod count from the start that its status tells, by the clock of the node.',
  dating: 'The deadline is over. The grace of the pod counts from now, whenever it was that it passed.',
  ending: 'The node ends the pod for its own reasons, and reports if that takes longer than it may.',
  exceeded: 'The time is over, and the pod has been told.',
};
