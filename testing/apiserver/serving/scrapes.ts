/** Scrapes nodes for their resource usage like metrics-server (`pkg/scraper/scraper.go` of metrics-server). */
import { text } from 'node:stream/consumers';
import type { Api } from '../api.ts';
import { nodeAddress } from '../connect/connect.ts';
import { type Batch, batchOf } from '../metrics/resourceMetrics.ts';
import { metadataOf } from '../store/metadata.ts';
import type { SendToNode } from './nodeClient.ts';

/** Timeout of a node's response, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Maximum size of a response, in characters. */
const MAX_CHARACTERS = 64 * 2 ** 20;
const OK = 200;

/** Scrapes every node every `everyMs` milliseconds until the returned function is called. */
export function scrapeNodes(api: Api, sendToNode: SendToNode, everyMs: number): () => void {
  const { clock } = api.registry;
  const end = new AbortController();
  let timer: unknown;
  const scrape = async () => {
    const nodes = api.registry.store.list('/nodes').map(([, node]) => metadataOf(node).name ?? '');
    const batches = await Promise.all(nodes.map((name) => scrapeNode(api, sendToNode, name, end.signal)));
    if (end.signal.aborted) return;
    api.usages.store(
      {
        nodes: new Map(batches.flatMap((batch) => [...batch.nodes])),
        pods: new Map(batches.flatMap((batch) => [...batch.pods])),
      },
      everyMs,
    );
    timer = clock.setTimeout(() => void scrape(), everyMs);
  };
  void scrape();
  return () => {
    end.abort();
    clock.clearTimeout(timer);
  };
}

const EMPTY_BATCH: Batch = { nodes: new Map(), pods: new Map() };

/** Scrapes a node. Returns an empty batch if the node does not respond as expected. */
async function scrapeNode(api: Api, sendToNode: SendToNode, name: string, ended: AbortSignal): Promise<Batch> {
  const { clock, store } = api.registry;
  const late = new AbortController();
  const timer = clock.setTimeout(() => late.abort(new Error('it has not answered in time')), TIMEOUT_MS);
  try {
    const signal = AbortSignal.any([late.signal, ended]);
    const nodeRequest = { method: 'GET', path: '/metrics/resource', headers: {}, signal };
    const { response, socket } = await sendToNode(nodeAddress(name, store), nodeRequest);
    const metrics = socket === undefined && response.statusCode === OK ? await readAll(response) : undefined;
    if (metrics !== undefined) return batchOf(metrics, name, clock.now());
    socket?.destroy();
    response.destroy();
    return EMPTY_BATCH;
  } catch {
    return EMPTY_BATCH;
  } finally {
    clock.clearTimeout(timer);
  }
}

async function readAll(response: NodeJS.ReadableStream): Promise<string> {
  let length = 0;
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > MAX_CHARACTERS) response.emit('error', new Error('it tells too much'));
  });
  return await text(response);
}
