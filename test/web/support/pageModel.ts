/** The model of the page with a scripted node, without a browser. */
import type { ActorDetail, ActorHistory, ShownLog, Snapshot } from '../../../inspect/protocol.ts';
import { parseLocation } from '../../../web/model/navigation/pageLocation.ts';
import { createPage } from '../../../web/model/page.ts';
import { apiDetail, apiHistory, checkoutObject, designSnapshot, NOW } from './nodeOnPage.ts';

interface Given {
  readonly first?: Snapshot;
  readonly url?: string;
  readonly snapshot?: (at: number) => Promise<Snapshot>;
  readonly detail?: (path: string, at?: number) => Promise<ActorDetail>;
  readonly log?: (path: string) => Promise<ShownLog>;
  readonly actorHistory?: (path: string, at?: number) => Promise<ActorHistory>;
}

/** Creates a page and records its history entries. */
export function pageModel({
  first: initialSnapshot = designSnapshot,
  url = '/',
  snapshot,
  detail,
  actorHistory,
  log,
}: Given = {}) {
  const written: string[] = [];
  const page = createPage({
    initialSnapshot,
    location: parseLocation(new URL(url, 'http://page')),
    now: () => NOW,
    history: { push: (to) => written.push(`push ${to}`), replace: (to) => written.push(`replace ${to}`) },
    client: {
      snapshot: snapshot ?? (async (at) => ({ ...initialSnapshot, at, mode: 'past' })),
      detail: detail ?? (async (path) => ({ ...apiDetail, path })),
      actorHistory: actorHistory ?? (async (path) => ({ ...apiHistory, path })),
      log: log ?? (async () => ({ run: 1, isRunning: true, lines: [] })),
      object: async () => checkoutObject,
      entry: async () => ({ value: null, heldBack: 0 }),
      story: async (_uid, from, to) => ({ from, to, before: [], lines: [] }),
      rail: async () => ({ from: 0, to: NOW, bucketMs: 1_000, counts: [], failures: [], restarts: [] }),
      drawing: async () => Promise.reject(new Error('no drawings here')),
    },
  });
  return { page, written };
}

/** Waits until a condition holds, because responses take several turns of the event loop. */
export async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !holds(); turn++) await Promise.resolve();
  if (!holds()) throw new Error('it does not come to be so');
}
