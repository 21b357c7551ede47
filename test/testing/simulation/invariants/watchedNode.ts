import { dirname } from 'node:path';
import type { PodStatus } from '../../../../kubernetes/api/schema/status.ts';
import { PATHS } from '../../../../testing/simulation/host/host.ts';
import type { Watched } from '../../../../testing/simulation/invariants/invariant.ts';
import { forwardOnly } from '../../../../testing/simulation/invariants/statuses/forwardOnly.ts';
import { simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { container, manifest } from '../../../../testing/simulation/stories/manifests.ts';

const setup = container('setup', { command: ['sh', '-c', 'exit 0'] });

/** Creates a node with a pod, and an invariant that is fed with made-up reports of it. */
export async function watchedNode(named?: string) {
  const node = await simulateNode({ seed: 1 });
  const apply = (spec: object = {}) => {
    const web = manifest('web', { restartPolicy: 'OnFailure', initContainers: [setup], ...spec });
    node.apply({ ...web, metadata: { ...web.metadata, ...(named ? { uid: named } : {}) } });
  };
  apply();
  await node.advance(10_000);
  const [pod] = node.pods();
  if (pod?.status === undefined) throw new Error('the node has no pod');
  const { status } = pod;
  const { uid, namespace, name } = pod.metadata;
  const watched = { host: node.host, actionLog: node.actionLog, podOf: () => pod, agentNumber: 1, timers: 0 };
  const broken: string[] = [];
  const hooks = forwardOnly.follow(watched as unknown as Watched, (message) => void broken.push(message));
  /** Lets the disk hang when the agent saves the terminal status of a pod. */
  const fault = () => {
    const about = `${PATHS.root}/statelet/statuses`;
    hooks.onCall?.({ target: 'disk', name: 'open', about, writes: true }, { kind: 'hang' });
  };
  const onAgentStarted = () => {
    hooks.onAgentStarted?.();
    fault();
  };
  fault();
  const following = { ...hooks, onAgentStarted };
  const report = (over: Partial<PodStatus>) =>
    following.onReport?.({ uid, namespace, name, status: { ...status, ...over }, ended: false });
  /** Reports a status without a QoS class. */
  const reportWithoutClass = (over: Partial<PodStatus>) => {
    const { qosClass: _, ...classless } = { ...status, ...over };
    following.onReport?.({ uid, namespace, name, status: classless, ended: false });
  };
  const remove = () => following.onStatus?.({ uid, pod, removed: true } as never);
  const beginAnew = (over: Partial<PodStatus>) =>
    following.onStatus?.({ uid, pod: { ...pod, status: { ...status, ...over } }, removed: false } as never);
  /** Removes all sandboxes from the runtime, without the agent's involvement. */
  const dropAll = () => {
    for (const sandbox of node.host.sandboxes()) {
      const containers = node.host.containers().filter((each) => each.sandbox.id === sandbox.id);
      node.host.runtime.removeSandbox(sandbox.id);
      for (const container of containers) following.onEffect?.({ kind: 'removed', sandbox, container });
    }
  };
  /**
   * Leaves the terminal status of the pod unacknowledged on disk. `isFinal` states that the pod terminated without
   * being removed.
   */
  const leaveEnd = async ({ isFinal = false } = {}) => {
    const left = `${PATHS.root}/statelet/unacknowledged/${uid}.json`;
    await node.host.files.mkdir(dirname(left), { recursive: true });
    await node.host.files.writeFile(left, JSON.stringify({ key: uid, value: { isFinal } }));
    return left;
  };
  const restart = () => (watched.agentNumber += 1);
  /** Returns and clears the violations since the last call. */
  const violations = () => broken.splice(0).map((message) => message.replace(/^default\/web-node-1: |, at \d+$/g, ''));
  return {
    node,
    apply,
    dropAll,
    status,
    following,
    hooks,
    report,
    reportWithoutClass,
    remove,
    beginAnew,
    leaveEnd,
    violations,
    restart,
    nextLife: () => {
      restart();
      following.onAgentStarted();
    },
  };
}
