/** A test API server for the agent to join, whose pods the bench makes and deletes, and follows as any client can. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { systemClock } from '../../actors/clock.ts';
import { ApiServer } from '../../apiserver/apiServer.ts';
import type { Attributes, ResourceAttributes } from '../../apiserver/authorization/attributes.ts';
import { manifest, nodeName } from './manifests.ts';
import { preciseNow } from './statistics.ts';

const condition = z.object({ type: z.string(), status: z.string() });
const watched = z.object({
  metadata: z.object({ name: z.string() }),
  status: z.optional(z.object({ conditions: z.optional(z.array(condition)) })),
});

const PODS = '/api/v1/namespaces/default/pods';
const LIMIT_MS = 300_000;

export interface BenchCluster {
  /** The file of the node's kubeconfig. */
  readonly kubeconfig: string;
  /** Resolves when the node is ready to run pods. */
  nodeReady(): Promise<void>;
  /** Makes these pods, bound to the node; gives when each was posted and when the API said that it is ready, in milliseconds since the epoch. */
  run(names: readonly string[]): Promise<readonly Span[]>;
  /** Deletes them; gives when each was asked for and when it was gone from the API. */
  remove(names: readonly string[]): Promise<readonly Span[]>;
  /** How often the status of a pod was patched. */
  patches(name: string): number;
  end(): Promise<void>;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Its files are below a directory that somebody else removes. */
export async function benchCluster(directory: string): Promise<BenchCluster> {
  const server = await ApiServer.start(systemClock);
  const served = await server.serve();
  const kubeconfig = join(directory, 'node.kubeconfig');
  await writeFile(kubeconfig, served.kubeconfig({ name: `system:node:${nodeName}`, groups: ['system:nodes'] }));
  const patched = new Map<string, number>();
  server.faults.add({
    // Nothing goes wrong: it counts.
    fault: { kind: 'latency', ms: 0 },
    matches: (asked) => {
      if (isStatusPatch(asked)) patched.set(asked.name, (patched.get(asked.name) ?? 0) + 1);
      return false;
    },
  });
  const [ready, gone] = [new Map<string, number>(), new Map<string, number>()];
  const unwatch = await server.watch('/api/v1/pods?watch=true', ({ type, object }) => {
    const { metadata, status } = watched.parse(object);
    const isReady = status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True');
    if (type === 'DELETED') gone.set(metadata.name, preciseNow());
    else if (isReady && !ready.has(metadata.name)) ready.set(metadata.name, preciseNow());
  });
  const all = async (
    names: readonly string[],
    told: ReadonlyMap<string, number>,
    ask: (name: string) => Promise<unknown>,
  ) => {
    const from = new Map<string, number>();
    for (const name of names) {
      from.set(name, preciseNow());
      await ask(name);
    }
    await until(() => names.every((name) => told.has(name)), `${names.length} pods`);
    return names.map((name) => ({ from: from.get(name) ?? Number.NaN, to: told.get(name) ?? Number.NaN }));
  };
  return {
    kubeconfig,
    nodeReady: () => nodeReady(server),
    run: (names) => all(names, ready, (name) => server.ask('POST', PODS, podOf(name))),
    remove: (names) => all(names, gone, (name) => server.ask('DELETE', `${PODS}/${name}`)),
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

/** The pod that is measured, as somebody makes it who has bound it already. */
function podOf(name: string) {
  const { spec, ...pod } = parse(manifest(name));
  return { ...pod, spec: { ...spec, nodeName, automountServiceAccountToken: false } };
}

async function nodeReady(server: ApiServer): Promise<void> {
  const isReady = async () => {
    const { status } = watched.parse(await server.ask('GET', `/api/v1/nodes/${nodeName}`));
    return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  };
  await until(() => isReady().catch(() => false), 'the node');
}

async function until(isMet: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const limit = preciseNow() + LIMIT_MS;
  while (!(await isMet())) {
    if (preciseNow() > limit) throw new Error(`${what}: not in time`);
    await pause(2);
  }
}
