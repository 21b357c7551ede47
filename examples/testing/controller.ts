/** Maintains a number of pods from one template, and labels each pod with its readiness. */
import { setInterval as ticks } from 'node:timers/promises';
import {
  CoreV1Api,
  type KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1Pod,
  type V1PodSpec,
} from '@kubernetes/client-node';
import { holdLease, ignoring, releaseLease } from './lease.ts';

export interface Replicas {
  readonly namespace: string;
  /** The name prefix of the pods. They are named `<name>-0`, `<name>-1` and so on, and have the label `app=<name>`. */
  readonly name: string;
  readonly count: number;
  readonly template: V1PodSpec;
}

export interface ControllerOptions {
  /** The identity of this controller in leader election. Only the leader acts. */
  readonly identity: string;
  readonly leaseSeconds?: number;
  /** Interval at which the lease is renewed or an attempt is made to acquire it, in milliseconds. */
  readonly renewMs?: number;
  readonly onError?: (error: unknown) => void;
}

export const READY_LABEL = 'example.org/ready';

/** Runs the controller until the signal is aborted. */
export async function runController(
  config: KubeConfig,
  { namespace, name, count, template }: Replicas,
  { identity, leaseSeconds = 15, renewMs = 5_000, onError = console.error }: ControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  const core = config.makeApiClient(CoreV1Api);
  const lease = { namespace, name, holder: identity, durationSeconds: leaseSeconds };
  const labelSelector = `app=${name}`;
  const list = () => core.listNamespacedPod({ namespace, labelSelector });
  const pods = makeInformer(config, `/api/v1/namespaces/${namespace}/pods`, list, labelSelector);

  const createPod = (podName: string) => {
    const body = { metadata: { name: podName, labels: { app: name } }, spec: template };
    return core.createNamespacedPod({ namespace, body }).then(() => {}, ignoring(409, undefined));
  };

  const labelPod = (pod: V1Pod) => {
    const body = { metadata: { labels: { [READY_LABEL]: String(isReady(pod)) } } };
    const options = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
    const patch = core.patchNamespacedPod({ namespace, name: nameOf(pod), body }, options);
    return patch.then(() => {}, ignoring(404, undefined));
  };

  const deletePod = (pod: V1Pod) =>
    core.deleteNamespacedPod({ namespace, name: nameOf(pod) }).then(() => {}, ignoring(404, undefined));

  /** Creates, deletes and labels pods so that they match the replicas. Every step is idempotent. */
  const reconcile = async () => {
    if (!(await holdLease(config, lease))) return;
    const wanted = Array.from({ length: count }, (_, index) => `${name}-${index}`);
    const existing = pods.list(namespace);
    const live = existing.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
    await Promise.all([
      ...wanted.filter((each) => !existing.some((pod) => nameOf(pod) === each)).map(createPod),
      ...live.filter((pod) => !wanted.includes(nameOf(pod)) || isFinished(pod)).map(deletePod),
      ...live.filter((pod) => pod.metadata?.labels?.[READY_LABEL] !== String(isReady(pod))).map(labelPod),
    ]);
  };

  let last = Promise.resolve();
  const queueReconcile = () => {
    last = last.then(reconcile).catch(onError);
  };
  pods.on('change', queueReconcile);
  // The informer does not reconnect after an error, so it is restarted at the next interval.
  let isBroken = false;
  const noteError = (error: unknown) => {
    isBroken = true;
    onError(error);
  };
  pods.on('error', noteError);
  await pods.start();
  queueReconcile();
  try {
    for await (const _ of ticks(renewMs, undefined, { signal })) {
      if (isBroken) {
        isBroken = false;
        await pods.start().catch(noteError);
      }
      queueReconcile();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    pods.off('error', noteError);
    pods.off('change', queueReconcile);
    await pods.stop();
    await last;
    await releaseLease(config, lease).catch(onError);
  }
}

const nameOf = ({ metadata }: V1Pod): string => metadata?.name ?? '';

const isReady = ({ status }: V1Pod): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

const isFinished = ({ status }: V1Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
