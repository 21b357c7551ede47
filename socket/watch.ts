import type { ServerResponse } from 'node:http';
import { startTimeLimit } from '../base/time/timeLimit.ts';
import type { AgentPort } from './agent.ts';
import { failureStatus } from './status.ts';

/**
 * Maximum number of bytes that a watch client may leave unread, in addition to the initial objects. A client that
 * exceeds the limit is disconnected.
 */
export const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** Time for a slow client to read the final ERROR event before the connection is closed, in milliseconds. */
const FINAL_EVENT_TIMEOUT_MS = 10_000;

interface WatchClient {
  readonly response: ServerResponse;
  readonly limit: number;
}

/** A source of objects with unique keys. */
interface ObjectSource {
  objects(): Iterable<readonly [key: string, object: unknown]>;
  subscribe(listener: (change: ObjectChange) => void): () => void;
}

interface ObjectChange {
  readonly key: string;
  readonly object: unknown;
  readonly isRemoved: boolean;
}

/** A watch of one kind of object. Each change is serialized once for all clients. */
export interface Watch {
  /** Sends every object as ADDED, then each change, until the client disconnects or falls behind. */
  add(response: ServerResponse): void;
  close(): void;
}

const formatWatchLine = (type: string, json: string) => `{"type":"${type}","object":${json}}\n`;

function dropClient({ response }: WatchClient): void {
  const status = failureStatus(410, 'Expired', 'the watch fell too far behind: list again and start a new watch');
  response.end(formatWatchLine('ERROR', JSON.stringify(status)));
  startTimeLimit(FINAL_EVENT_TIMEOUT_MS).signal.addEventListener('abort', () => response.destroy());
}

/**
 * Returns the watch event for a change and stores the object's JSON in `sentJson`. Returns undefined if the JSON has
 * not changed.
 */
function eventLine({ key, object, isRemoved }: ObjectChange, sentJson: Map<string, string>): string | undefined {
  const previousJson = sentJson.get(key);
  const json = JSON.stringify(object);
  if (isRemoved) {
    sentJson.delete(key);
    return formatWatchLine('DELETED', json);
  }
  if (previousJson === json) return undefined;
  sentJson.set(key, json);
  return formatWatchLine(previousJson === undefined ? 'ADDED' : 'MODIFIED', json);
}

export const watchPods = (agent: AgentPort): Watch =>
  createWatch({
    objects: () => agent.pods().map((pod) => [pod.metadata.uid, pod]),
    subscribe: (listener) =>
      agent.subscribe(({ uid, pod, removed: isRemoved }) => listener({ key: uid, object: pod, isRemoved })),
  });

export const watchEvents = (agent: AgentPort): Watch =>
  createWatch({
    objects: () => agent.events().map((event) => [event.metadata.name, event]),
    subscribe: (listener) =>
      agent.subscribeEvents(({ event, removed: isRemoved }) =>
        listener({ key: event.metadata.name, object: event, isRemoved }),
      ),
  });

/** Watches objects for any number of clients. Subscribes to the source only while there is a client. */
const createWatch = (source: ObjectSource): Watch => new ObjectWatch(source);

class ObjectWatch implements Watch {
  readonly #source: ObjectSource;
  readonly #clients = new Set<WatchClient>();
  readonly #sentJson = new Map<string, string>();
  #unsubscribe: (() => void) | undefined;

  constructor(watched: ObjectSource) {
    this.#source = watched;
  }

  add(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.flushHeaders();
    for (const [key, object] of this.#source.objects()) {
      const json = JSON.stringify(object);
      if (!this.#sentJson.has(key)) this.#sentJson.set(key, json);
      response.write(formatWatchLine('ADDED', json));
    }
    const client = { response, limit: response.writableLength + MAX_UNREAD_BYTES };
    this.#clients.add(client);
    this.#unsubscribe ??= this.#source.subscribe((change) => this.#sendChange(change));
    response.on('close', () => this.#removeClient(client));
  }

  close(): void {
    for (const client of [...this.#clients]) {
      this.#removeClient(client);
      client.response.end();
    }
  }

  #removeClient(client: WatchClient): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#sentJson.clear();
  }

  #sendChange(change: ObjectChange): void {
    const line = eventLine(change, this.#sentJson);
    if (line === undefined) return;
    for (const client of this.#clients) {
      client.response.write(line);
      if (client.response.writableLength <= client.limit) continue;
      this.#removeClient(client);
      dropClient(client);
    }
  }
}
