/** A test API server that the agent joins. The bench creates, deletes and watches its pods as any client can. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { yieldToEventLoop } from '../../base/async/yieldToEventLoop.ts';
import { systemClock } from '../../base/time/clock.ts';
import { ApiServer } from '../../testing/apiserver/apiServer.ts';
import type { Attributes, ResourceAttributes } from '../../testing/apiserver/authorization/attributes.ts';
import { manifest, nodeName } from './manifests.ts';
import { preciseNow } from './statistics.ts';

const condition = z.object({ type: z.string(), status: z.string() });
const podList = z.object({
  items: z.array(
    z.object({
      status: z.optional(
        z.object({ containerStatuses: z.optional(z.array(z.object({ state: z.record(z.string(), z.unknown()) }))) }),
      ),
    }),
  ),
});
const watched = z.object({
  metadata: z.object({ name: z.string() }),
  status: z.optional(z.object({ conditions: z.optional(z.array(condition)) })),
});

const PODS = '/api/v1/namespaces/default/pods';
const LIMIT_MS = 300_000;

export interface BenchCluster {
  /** Path of the node's kubeconfig. */
  readonly kubeconfig: string;
  /** Token that may scrape the node. */
  readonly token: string;
  /** Resolves when the node is ready to run pods. */
  nodeReady(): Promise<void>;
  /**
   * Creates pods that are bound to the node. Returns for each pod when it was posted and when the API reported it as
   * ready, in milliseconds since the epoch.
   */
  run(names: readonly string[]): Promise<readonly Span[]>;
  /** Deletes pods. Returns for each pod when the deletion was requested and when the pod was gone from the API. */
  remove(names: readonly string[]): Promise<readonly Span[]>;
  /** Creates a pod with any spec that is bound to the node, without waiting for it. */
  create(name: string, spec: object): Promise<void>;
  /** Creates a Service with one port. */
  createService(name: string): Promise<void>;
  /** Watches the renewals of the node's lease from now on. */
  leaseIntervals(): Promise<{
    /** Returns the longest interval without a renewal so far, in milliseconds. */
    longest(): number;
  }>;
  /** Returns how often the status of a pod has been patched. */
  patches(name: string): number;
  /** Returns how many events have been created. */
  events(): number;
  /** Returns how many containers are reported in this state. */
  countContainers(state: 'running' | 'waiting'): Promise<number>;
  end(): Promise<void>;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Starts the API server. Its files are in a directory that the caller removes. */
export async function benchCluster(directory: string): Promise<BenchCluster> {
  const server = await ApiServer.start(systemClock);
  const served = await server.serve();
  const kubeconfig = join(directory, 'node.kubeconfig');
  await writeFile(kubeconfig, served.kubeconfig({ name: `system:node:${nodeName}`, groups: ['system:nodes'] }));
  const token = 'scraper';
  server.tokens.set(token, { name: 'system:kubelet-api-admin', groups: [] });
  const patched = new Map<string, number>();
  let eventCount = 0;
  server.faults.add({
    // This fault has no effect, but its matcher counts the requests.
    fault: { kind: 'latency', ms: 0 },
    matches: (asked) => {
      if (isNewEvent(asked)) eventCount += 1;
      if (isStatusPatch(asked)) patched.set(asked.name, (patched.get(asked.name) ?? 0) + 1);
      return false;
    },
  });
  const [ready, gone] = [moments(), moments()];
  const unwatch = await server.watch('/api/v1/pods?watch=true', ({ type, object }) => {
    const { metadata, status } = watched.parse(object);
    if (type === 'DELETED') gone.note(metadata.name);
    else if (isTrue('Ready', status)) ready.note(metadata.name);
  });
  const all = async (names: readonly string[], told: Moments, ask: (name: string) => Promise<unknown>) => {
    const from: number[] = [];
    for (const name of names) {
      from.push(preciseNow());
      await ask(name);
      // Let the server, which runs in this process, send its watch events between the requests.
      await yieldToEventLoop();
    }
    const to = await inTime(told.of(names), `${names.length} pods`);
    return names.map((_, index) => ({ from: from[index] ?? Number.NaN, to: to[index] ?? Number.NaN }));
  };
  return {
    kubeconfig,
    token,
    nodeReady: () => nodeReady(server),
    run: (names) => all(names, ready, (name) => server.request('POST', PODS, podOf(name))),
    remove: (names) => all(names, gone, (name) => server.request('DELETE', `${PODS}/${name}`)),
    create: async (name, spec) => {
      const bound = { ...spec, nodeName, automountServiceAccountToken: false };
      await server.request('POST', PODS, { ...kind, metadata: { ...metadata, name }, spec: bound });
    },
    createService: async (name) => {
      const service = { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }] } };
      await server.request('POST', '/api/v1/namespaces/default/services', service);
    },
    leaseIntervals: () => leaseIntervals(server),
    events: () => eventCount,
    countContainers: async (state) => {
      const { items } = podList.parse(await server.request('GET', PODS));
      const statuses = items.flatMap(({ status }) => status?.containerStatuses ?? []);
      return statuses.filter(({ state: reported }) => Object.hasOwn(reported, state)).length;
    },
    patches: (name) => patched.get(name) ?? 0,
    end: async () => {
      unwatch();
      server.close();
      await served.close();
    },
  };
}

const isStatusPatch = (asked: Attributes): asked is ResourceAttributes =>
  asked.verb === 'patch' && 'resource' in asked && asked.resource === 'pods' && asked.subresource === 'status';

const isNewEvent = (asked: Attributes): boolean =>
  asked.verb === 'create' && 'resource' in asked && asked.resource === 'events';

/** The measured pod, already bound to the node. The manifest is parsed only once. */
const { spec, metadata, ...kind } = parse(manifest('any'));
const podOf = (name: string) => ({
  ...kind,
  metadata: { ...metadata, name },
  spec: { ...spec, nodeName, automountServiceAccountToken: false },
});

type Status = z.infer<typeof watched>['status'];

const isTrue = (wanted: string, status: Status): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === wanted && is === 'True') ?? false;

/**
 * Times at which names were first noted. Waiting does not poll, because polling would take CPU time from what is
 * measured.
 */
interface Moments {
  note(name: string): void;
  of(names: readonly string[]): Promise<number[]>;
}

function moments(): Moments {
  const all = new Map<string, PromiseWithResolvers<number>>();
  const at = (name: string) => {
    const known = all.get(name) ?? Promise.withResolvers<number>();
    all.set(name, known);
    return known;
  };
  return {
    note: (name) => at(name).resolve(preciseNow()),
    of: (names) => Promise.all(names.map((name) => at(name).promise)),
  };
}

async function nodeReady(server: ApiServer): Promise<void> {
  const node = moments();
  const unwatch = await server.watch(`/api/v1/nodes?watch=true`, ({ object }) => {
    const { metadata, status } = watched.parse(object);
    if (isTrue('Ready', status)) node.note(metadata.name);
  });
  await inTime(node.of([nodeName]), 'the node').finally(unwatch);
}

async function leaseIntervals(server: ApiServer): Promise<{ longest(): number }> {
  let renewedAt = preciseNow();
  let longest = 0;
  const note = () => {
    longest = Math.max(longest, preciseNow() - renewedAt);
  };
  await server.watch('/apis/coordination.k8s.io/v1/leases?watch=true', () => {
    note();
    renewedAt = preciseNow();
  });
  return {
    longest: () => {
      note();
      return longest;
    },
  };
}

async function inTime<T>(awaited: Promise<T>, what: string): Promise<T> {
  const giveUp = new AbortController();
  const late = pause(LIMIT_MS, undefined, giveUp).then(() => {
    throw new Error(`${what}: not in time`);
  });
  return Promise.race([awaited, late]).finally(() => giveUp.abort());
}
