/** Minimal versions of the cluster's controllers that nodes and pods depend on. */
import type { Api } from '../api.ts';
import type { Authority } from '../serving/authority.ts';
import type { Controller, Write } from './controller.ts';
import { namespaceController } from './namespaces.ts';
import { taintController } from './nodeTaints.ts';
import { scheduler } from './scheduler.ts';
import { type SigningPolicy, signingController } from './signer.ts';

/** Runs all controllers once and then on each change, until the returned function is called. */
export async function startControllers(api: Api, authority: Authority, policy: SigningPolicy): Promise<() => void> {
  const { store, clock } = api.registry;
  const signer = signingController({ authority, clock, policy });
  const timers = new Set<unknown>();
  const stops: (() => void)[] = [];
  for (const { user, resources, reconcile } of [
    namespaceController(authority.cert),
    taintController,
    scheduler,
    signer,
  ]) {
    const write = writerOf(api, user);
    const onChange = sequential(async () => {
      const againMs = await reconcile(store, write);
      if (againMs === undefined) return;
      const timer = clock.setTimeout(() => {
        timers.delete(timer);
        onChange();
      }, againMs);
      timers.add(timer);
    });
    stops.push(...resources.map((resource) => store.watch(resource, onChange)));
    await reconcile(store, write);
  }
  return () => {
    for (const stop of stops) stop();
    for (const timer of timers) clock.clearTimeout(timer);
  };
}

const MERGES = 'application/merge-patch+json';

function writerOf(api: Api, name: Controller['user']): Write {
  return async (method, url, body) => {
    const headers = new Map([['content-type', method === 'PATCH' ? MERGES : 'application/json']]);
    const text = body === undefined ? '' : JSON.stringify(body);
    await api.respondWithoutFaults({ method, url, headers, body: text, user: { name, groups: ['system:masters'] } });
  };
}

/** Returns a function that runs `reconcile`. A call during a run causes one more run after it. */
function sequential(reconcile: () => Promise<void>): () => void {
  let isPending = false;
  let isRunning = false;
  const run = async () => {
    isRunning = true;
    while (isPending) {
      isPending = false;
      // Let the write that triggered this change complete first.
      await Promise.resolve();
      await reconcile();
    }
    isRunning = false;
  };
  return () => {
    isPending = true;
    if (!isRunning) void run();
  };
}
