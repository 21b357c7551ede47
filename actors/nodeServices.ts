/** Everything that a real node puts behind the ports: the CRI, the disk, the manifests, the durable facts. */
import * as z from 'zod/mini';
import type { Cri } from '../cri/calls.ts';
import type { NodeFacts } from '../cri/nodeFacts.ts';
import type { PodCgroups } from '../host/cgroup/podCgroups.ts';
import { createLayout } from '../host/pods/layout.ts';
import { userNamespaces } from '../host/pods/userNamespaces.ts';
import type { NodeFact, RuntimeHealth } from '../machines/shared/events.ts';
import type { PodIdentity } from '../pod/lifecycle/observed.ts';
import { clockSchema, mustHold } from './agentConfig.ts';
import { systemJitter } from './clock.ts';
import type { NodeServices } from './createNodeAgent.ts';
import { createAlarm } from './feeds/alarm.ts';
import { watchNodeFacts } from './feeds/nodeFacts.ts';
import { observeRuntime } from './runtime/pleg.ts';
import { watchRuntimeHealth } from './runtime/runtimeHealth.ts';
import { containerServices } from './services/containers.ts';
import { diskServices } from './services/disk.ts';
import { garbageServices } from './services/garbage.ts';
import { hookService } from './services/hooks.ts';
import { imageServices } from './services/images.ts';
import { defaultLogPolicy, type LogPolicy, logServices } from './services/logs.ts';
import type { RestartRuntime } from './services/lostTasks.ts';
import { type FindCredentials, noCredentials } from './services/nodeCredentials.ts';
import { probeServices } from './services/probes.ts';
import { resizeServices } from './services/resizing.ts';
import { type FindRuntimeHandler, noRuntimeClasses } from './services/runtimeClasses.ts';
import { sandboxServices } from './services/sandboxes.ts';
import { stoppedByUs } from './services/stoppedByUs.ts';
import { touchedPods } from './services/touchedPods.ts';
import { type SourceParts, sourcesFeed } from './sources/sources.ts';
import { keepFacts } from './store/keepFacts.ts';
import { makerOf } from './store/leftOnDisk.ts';
import { createOwnership } from './store/ownership.ts';

const partsSchema = z.looseObject({
  clock: clockSchema,
  ...{ cri: z.looseObject({}), store: z.looseObject({}), durable: z.looseObject({}) },
  node: z.looseObject({ nodeName: z.string(), rootDir: z.string(), podLogsDir: z.string(), owner: z.string() }),
  fileCheckMs: z.optional(z.number().check(z.gte(1))),
});

const TICK_MS = 10_000;
const DEFAULT_PODS = 110;

export interface NodeParts extends Omit<SourceParts, 'nodeName'> {
  readonly cri: Cri;
  /** At least 0 and less than 1; the system's when absent. */
  readonly jitter?: () => number;
  readonly node: NodeFacts;
  /** Absent where pods have no cgroups of their own, or no containers. */
  readonly cgroups?: PodCgroups;
  /** Absent: there are no RuntimeClasses. */
  readonly findRuntimeHandler?: FindRuntimeHandler;
  /** The node's credentials for registries; absent: it has none. */
  readonly findCredentials?: FindCredentials;
  /** When containers' logs are rotated; absent: as a kubelet does. */
  readonly logs?: LogPolicy;
  /** Absent: the runtime is not the node's own. */
  readonly restartRuntime?: RestartRuntime;
  /** Told when the directory of a pod is adopted that this agent did not make, and why it was not its own. */
  readonly onAdopted?: (pod: PodIdentity, why: string) => void;
  /** Told when the runtime's health changes. */
  readonly onRuntimeHealth?: (health: RuntimeHealth) => void;
}

/** Throws when a part is missing or is something else. */
export function nodeServices(parts: NodeParts): NodeServices {
  mustHold('nodeServices', partsSchema, parts);
  const { cri, clock, node, onError, jitter = systemJitter } = parts;
  const layout = createLayout({ rootDir: node.rootDir, podLogsDir: node.podLogsDir });
  const { podLogsDir, owner } = node;
  const ownership = createOwnership({ layout, maker: makerOf(node), podLogsDir, owner, onAdopted: parts.onAdopted });
  const users = userNamespaces({ layout, pods: DEFAULT_PODS, ...node.userNamespaces });
  const findHandler = parts.findRuntimeHandler ?? noRuntimeClasses;
  const sandboxes = sandboxServices({
    cri,
    node,
    users,
    clock,
    findHandler,
    ownership,
    cgroups: parts.cgroups,
    restartRuntime: parts.restartRuntime,
  });
  const containers = containerServices({ cri, node, layout, users, clock, findHandler, onError });
  const { touching, takeTouched } = touchedPods();
  const { stops, isBeingStopped } = stoppedByUs();
  const kept = keepFacts(parts);
  // Rings once the health is watched: a broken event stream is a reason to ask for it at once.
  let askHealth = () => {};
  return {
    ports: {
      ...sandboxes,
      runSandbox: touching(sandboxes.runSandbox),
      stopSandboxes: stops(({ ids }) => ids, sandboxes.stopSandboxes),
      ...containers,
      startContainer: touching(containers.startContainer),
      stopContainer: stops(({ id }) => [id], containers.stopContainer),
      ...imageServices({ cri, clock, node, findCredentials: parts.findCredentials ?? noCredentials }),
      ...diskServices({ cri, node, clock, layout, ownership, cgroups: parts.cgroups }),
      ...resizeServices({ cri, node, cgroups: parts.cgroups }),
      ...garbageServices({ cri, clock, layout, ownership, isEvidence: kept.isEvidence }),
      runHook: hookService({ cri, clock, hostIps: node.hostIps }),
      ...probeServices({ cri, clock, hostIps: node.hostIps, jitter }),
      ...logServices({ cri, layout, clock, policy: parts.logs ?? defaultLogPolicy, onError }),
    },
    feeds: {
      runtimeHealth: (send, { signal }) => {
        const tell = (health: RuntimeHealth) => {
          parts.onRuntimeHealth?.(health);
          send({ type: 'runtime.healthChanged', health });
        };
        const alarm = createAlarm(clock, signal);
        askHealth = alarm.ring;
        return watchRuntimeHealth({ cri, clock, signal, alarm, tell });
      },
      pleg: (send, { signal }) => {
        const onBreak = () => askHealth();
        const tell = (fact: NodeFact) => {
          send(fact.type === 'runtime.podsObserved' ? { ...fact, pods: ownership.see(fact.pods) } : fact);
        };
        return observeRuntime({ cri, clock, signal, send: tell, onError, onBreak, takeTouched, isBeingStopped });
      },
      sources: sourcesFeed({ ...parts, nodeName: node.nodeName }),
      nodeFacts: (send, { signal }) => watchNodeFacts({ hostIps: node.hostIps, clock, signal, send }),
      ticker: async (send, { signal }) => {
        const alarm = createAlarm(clock, signal);
        while (!signal.aborted) {
          await alarm.wait(clock.now() + TICK_MS);
          send({ type: 'node.ticked', at: clock.now() });
        }
      },
    },
    statuses: kept.sink,
  };
}
