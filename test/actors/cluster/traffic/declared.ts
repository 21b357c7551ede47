/**
 * Differences between the requests of the node and those of the kubelet, with the reasons. docs/kubelet-traffic.md is
 * generated from them.
 */
import type { Difference } from './compare.ts';
import { NODE_REASONS } from './nodeDeclared.ts';
import type { Declared, Reason } from './reason.ts';

/** Reasons for the differences in requests about pods. */
export const POD_REASONS: readonly Reason[] = [
  {
    kubelet: 'looks for the image of a container, then makes the container, then goes on to the next',
    here: 'the images of all containers are looked for at once: `Pulled` comes before `Created` of another container',
    why: 'no image needs to wait for another container, or for the sandbox',
    seen: [{ scenarios: ['04-crash'], about: 'pod two', what: /^the order of its events: .*Pulled/ }],
  },
  {
    kubelet:
      'tells `CrashLoopBackOff` and `ImagePullBackOff` when it looks at the pod again, which may be after the wait',
    here: 'the status tells the wait as soon as it begins',
    why: 'whoever looks sees what the container waits for',
    seen: [
      {
        scenarios: ['04-crash'],
        about: 'pod two',
        what: /^a status that a kubelet does not tell: [^+]*\+ containerStatuses\[0\] [^+]*back-off 40s[^+]*CrashLoopBackOff[^+]*$/,
      },
      {
        scenarios: ['22-outage'],
        about: 'pod crasher',
        what: /^a status that a kubelet does not tell: .*back-off 20s.*CrashLoopBackOff/,
      },
      { scenarios: ['10-image'], about: 'pod missing', what: /^a status once more: [^+]*\+ .*ImagePullBackOff/ },
      { scenarios: ['10-image'], about: 'pod present', what: /^a status once more: [^+]*\+ .*ImagePullBackOff/ },
    ],
  },
  {
    kubelet: 'tells the first status of a pod, which says that it waits, before its containers run',
    here: 'that waits up to a second (of many pods that come at once up to 10 s) for what follows: a pod that runs by then has one status',
    why: 'nobody acts on it, and a start is one request less',
    seen: [
      {
        scenarios: ['13-refused'],
        about: 'pod port-a',
        what: /^a status that a kubelet does not tell: - order \[[^\]]*\]$/,
      },
      {
        scenarios: ['21-restart'],
        about: 'pod new',
        what: /^a status that a kubelet does not tell: - order \[[^\]]*\]$/,
      },
    ],
  },
  {
    kubelet: 'may take back, as a pod goes, what `status.resources` said of it: its cgroup is gone by then',
    here: 'it stays as it was',
    why: 'it says what the pod had, and the kubelet does so only when it happens to look in between',
    seen: [{ scenarios: ['15-resize'], about: 'pod blocks', what: /^its last status: - resources \{\}; \+ resources/ }],
  },
  {
    kubelet: 'deletes the mirror of a pod whose manifest is gone by its name',
    here: 'only the mirror that was seen: its UID is a precondition',
    why: 'a pod that has just taken the name is not deleted for it',
    seen: ['02-static', '22-outage'].flatMap((scenario) => [
      {
        scenarios: [scenario],
        about: podOf(scenario),
        what: /^no request DELETE \{"gracePeriodSeconds":0,"precond[^u]*\}\}$/,
      },
      {
        scenarios: [scenario],
        about: podOf(scenario),
        what: /^the request DELETE .*"preconditions":\{"uid":"‹uid›"\}/,
      },
    ]),
  },
  {
    kubelet: 'tells the status of a new mirror 0.1 s or more after it was made, when the sandbox is there',
    here: 'at once, and then that the pod runs',
    why: 'the mirror has a status as soon as it is there, as any other pod',
    seen: [
      {
        scenarios: ['02-static'],
        about: 'pod web-node1',
        what: /^a status that a kubelet does not tell: - PodReady[^+]*\+ PodReadyToStartContainers \{"status":"False",/,
      },
    ],
  },
  {
    kubelet:
      'forgets how a pod ended whose manifest has changed; of one that is gone it tells the end once its sandbox is stopped',
    here: 'the mirror tells that the containers have ended as soon as they have, and goes right after',
    why: 'until the other mirror is there this one shows what became of its pod',
    seen: [
      {
        scenarios: ['02-static'],
        about: 'pod web-node1',
        what: /^(a status that a kubelet does not tell|its last status): - PodReady[^+]*\+ PodReadyToStartContainers \{"status":"True",/,
      },
      {
        scenarios: ['22-outage'],
        about: 'pod late-node1',
        what: /^(a status that a kubelet does not tell|its last status): - .*\+ containerStatuses\[0\] .*"terminated"/,
      },
      {
        scenarios: ['22-outage'],
        about: 'pod late-node1',
        what: /^(2 GETs, a kubelet sends 1|2 patches of its status, a kubelet sends 1)$/,
      },
    ],
  },
];

function podOf(scenario: string): string {
  return scenario === '02-static' ? 'pod web-node1' : 'pod late-node1';
}

export const REASONS: readonly Reason[] = [...POD_REASONS, ...NODE_REASONS];

const isDeclared =
  (scenario: string, { about, what }: Difference) =>
  (each: Declared): boolean =>
    each.scenarios.includes(scenario) && each.about === about && each.what.test(what);

/**
 * Returns the differences in a scenario that were found but not declared, and those that were declared but not found.
 */
export function undeclared(reasons: readonly Reason[], scenario: string, found: readonly Difference[]) {
  const all = reasons.flatMap(({ seen }) => seen).filter(({ scenarios }) => scenarios.includes(scenario));
  return {
    undeclared: found.filter((each) => !all.some(isDeclared(scenario, each))),
    notFound: all.filter((each) => !found.some((one) => isDeclared(scenario, one)(each))),
  };
}
