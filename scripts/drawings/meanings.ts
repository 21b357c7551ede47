/** What each state means to somebody who did not write the charts; a test names those that say nothing. */
import { certificate, lease, mirror, nodeStatus, registration } from './meanings/cluster.ts';
import { container } from './meanings/container.ts';
import { admission, cgroups, garbage, limiter, logRotation, nodeAgent, statusSink } from './meanings/node.ts';
import { activeDeadline, image, pace, probe, volume } from './meanings/parts.ts';
import { pod } from './meanings/pod.ts';

/** One or two sentences for each state, by the id of its machine and its dotted path. */
export const meanings: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.entries({
    pod,
    container,
    volume,
    image,
    probe,
    activeDeadline,
    pace,
    nodeAgent,
    limiter,
    admission,
    cgroups,
    garbage,
    logRotation,
    statusSink,
    registration,
    nodeStatus,
    lease,
    mirror,
    certificate,
  }).map(([machine, states]) => [machine, new Map(Object.entries(states))]),
);
