/** The built page in a browser, served by the product's server for a scripted node. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import type { InspectedNode } from '../../../inspect/inspected.ts';
import type {
  ActorDetail,
  ActorHistory,
  Drawing,
  Frame,
  ShownLog,
  ShownObject,
  Snapshot,
  Story,
} from '../../../inspect/protocol.ts';
import { type PageServer, servePage } from '../../../inspect/servePage.ts';
import { drawAll } from '../../../scripts/drawings/all.ts';
import { actorSteps } from '../../../show/actors/actorPath.ts';
import { withFrame, worldOf } from '../../../web/model/server/world.ts';
import { root } from '../../support/root.ts';
import { startBrowser } from './browser.ts';
import { longDetail, longHistory, longLines, longObject, longSnapshot, longStory } from './longNames.ts';
import { apiDetail, apiHistory, checkoutObject, designSnapshot, evictionDetail } from './nodeOnPage.ts';

const build = `await (await import('./scripts/bundle/buildPage.mjs')).buildPage(await import('esbuild'));`;

/** A node whose changes a test scripts. */
export class NodeOnPage implements InspectedNode {
  #snapshot: Snapshot;
  readonly #viewers = new Set<(frame: Frame) => void>();
  /** Error for requests of details. Undefined if they succeed. */
  trouble: string | undefined;

  constructor(snapshot: Snapshot = designSnapshot) {
    this.#snapshot = snapshot;
  }

  readonly live = {
    snapshot: () => this.#snapshot,
    follow: (viewer: (frame: Frame) => void) => {
      this.#viewers.add(viewer);
      return () => void this.#viewers.delete(viewer);
    },
  };

  /** Publishes a change to current viewers, and its result to later ones. */
  change(change: Partial<Frame>): void {
    const at = this.#snapshot.at + 1_000;
    const frame: Frame = { at, pods: [], podsGone: [], actors: [], actorsGone: [], lines: [], ...change };
    const { pods, actors, node } = withFrame(worldOf(this.#snapshot), frame);
    this.#snapshot = { ...this.#snapshot, at, node, pods: [...pods.values()], actors: [...actors.values()] };
    for (const viewer of this.#viewers) viewer(frame);
  }

  moment = async (at = this.#snapshot.at): Promise<Snapshot> => ({ ...this.#snapshot, at, mode: 'past' });
  story = async (_uid: string, from: number, to: number): Promise<Story> => ({ from, to, before: [], lines: [] });
  rail = async () => {
    const { at } = this.#snapshot;
    const counts = Array.from({ length: 60 }, (_, index) => index % 7);
    return { from: at - 1_800_000, to: at, bucketMs: 30_000, counts, failures: [], restarts: [] };
  };
  detail = async (path: string): Promise<ActorDetail> => {
    if (this.trouble !== undefined) throw new Error(this.trouble);
    if (path === apiDetail.path) return apiDetail;
    if (path === evictionDetail.path) return evictionDetail;
    return { ...apiDetail, path, answer: `asked of ${path}`, next: [], events: [] };
  };
  actorHistory = async (path: string): Promise<ActorHistory> =>
    path === apiHistory.path ? apiHistory : { ...apiHistory, path, tried: [] };
  /** Log lines of the containers. */
  logLines: readonly string[] = ['connecting to db.shop:5432 as redacted-0123456789abcdef', 'connected'];
  log = async (): Promise<ShownLog> => ({ run: 7, isRunning: true, lines: this.logLines });
  object = async (): Promise<ShownObject> => checkoutObject;
  entry = async () => ({ value: { state: 'exited', exitCode: 3 }, heldBack: 2 });
  close = async () => {};
}

/** Creates a node whose names and texts have the maximum length. */
export class NodeWithLongNames extends NodeOnPage {
  readonly #drawings: readonly Drawing[];

  constructor(drawings: readonly Drawing[]) {
    super(longSnapshot);
    this.#drawings = drawings;
  }

  /** Creates a node with the drawings of all charts, each state of which has been entered. */
  static make = async () => new NodeWithLongNames([...(await drawAll(root)).values()]);

  override detail = async (path: string) => longDetail(path);
  override actorHistory = async (path: string) =>
    longHistory(
      path,
      this.#drawings.filter(({ machine }) => machine === machineOf(path)),
    );
  override story = async (uid: string, from: number, to: number) => longStory(uid, from, to);
  override logLines = longLines;
  override object = async () => longObject;
}

const machineOf = (path: string): string | undefined => actorSteps(path).at(-1)?.kind;

/** The browser page of a test. `close` releases everything. */
export interface Looking {
  /** The browser's clock is `clockOffsetMs` ahead of the node's. */
  open(
    place: string,
    size?: { readonly width: number; readonly height: number },
    clockOffsetMs?: number,
  ): Promise<Page>;
  close(): Promise<void>;
}

/** Builds the page, serves it, and starts a browser. The test fails on a machine without chromium. */
export async function lookAt(node: NodeOnPage): Promise<Looking> {
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', build], { cwd: root });
  const server: PageServer = await servePage({
    address: { host: '127.0.0.1', port: 0 },
    token: undefined,
    openInspectedNode: async () => node,
    directory: join(root, 'dist/web'),
  });
  const browser = await startBrowser();
  return {
    async open(place, viewport = { width: 1440, height: 900 }, clockOffsetMs = 0) {
      const page = await browser.newPage({ viewport, colorScheme: 'dark', reducedMotion: 'reduce' });
      // The browser's clock advances only on request.
      await page.clock.setFixedTime(designSnapshot.at + clockOffsetMs);
      await page.goto(new URL(place, server.url).href);
      return page;
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}
