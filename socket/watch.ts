import type { ServerResponse } from 'node:http';
import { startTimeLimit } from '../base/timeLimit.ts';
import type { AgentPort } from './agent.ts';
import { failure } from './status.ts';

/**
 * Maximum number of unread bytes of a watch client, in addition to the initial objects. A client that exceeds it is
 * dropped.
 */
export const UNREAD_LIMIT = 4 * 1024 * 1024;

/** Time for a dropped client to read the final ERROR event, in milliseconds. */
const FINAL_EVENT_TIMEOUT_MS = 10_000;

interface Client {
  readonly response: ServerResponse;
  readonly limit: number;
}

/** A source of objects with unique keys. */
interface WatchSource {
  objects(): Iterable<readonly [key: string, object: unknown]>;
  subscribe(listener: (change: Change) => void): () => void;
}

interface Change {
  readonly key: string;
  readonly object: unknown;
  readonly removed: boolean;
}

/** A watch of one kind of object. Each change is serialized once for all clients. */
export interface Watch {
  /** Sends every object as ADDED, then each change, until the client disconnects or falls behind. */
  add(response: ServerResponse): void;
  close(): void;
}

const line = (type: string, json: string) => `{"type":"${type}","object":${json}}\n`;

function drop({ response }: Client): void {
  const status = failure(410, 'Expired', 'the watch fell too far behind: list again and start a new watch');
  response.end(line('ERROR', JSON.stringify(status)));
  startTimeLimit(FINAL_EVENT_TIMEOUT_MS).signal.addEventListener('abort', () => response.destroy());
}

/**
 * Returns the watch event for a change and stores the object's JSON in `sentJson`. Returns undefined if the JSON has
 * not changed.
 */
function eventLine({ key, object, removed }: Change, sentJson: Map<string, string>): string | undefined {
  const before = sentJson.get(key);
  const json = JSON.stringify(object);
  if (removed) {
    sentJson.delete(key);
    return line('DELETED', json);
  }
  if (before === json) return undefined;
  sentJson.set(key, json);
  return line(before === undefined ? 'ADDED' : 'MODIFIED', json);
}

export const watchPods = (agent: AgentPort): Watch =>
  watchObjects({
    objects: () => agent.pods().map((pod) => [pod.metadata.uid, pod]),
    subscribe: (listener) => agent.subscribe(({ uid, pod, removed }) => listener({ key: uid, object: pod, removed })),
  });

export const watchEvents = (agent: AgentPort): Watch =>
  watchObjects({
    objects: () => agent.events().map((event) => [event.metadata.name, event]),
    subscribe: (listener) =>
      agent.subscribeEvents(({ event, removed }) => listener({ key: event.metadata.name, object: event, removed })),
  });

/** Watches objects for any number of clients. Subscribes to the source only while there is a client. */
const watchObjects = (watched: WatchSource): Watch => new ObjectWatch(watched);

class ObjectWatch implements Watch {
  readonly #source: WatchSource;
  readonly #clients = new Set<Client>();
  readonly #sentJson = new Map<string, string>();
  #unsubscribe: (() => void) | undefined;

  constructor(watched: WatchSource) {
    this.#source = watched;
  }

  add(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.flushHeaders();
    for (const [key, object] of this.#source.objects()) {
      const json = JSON.stringify(object);
      if (!this.#sentJson.has(key)) this.#sentJson.set(key, json);
      response.write(line('ADDED', json));
    }
    const client = { response, limit: response.writableLength + UNREAD_LIMIT };
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

  #removeClient(client: Client): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#sentJson.clear();
  }

  #sendChange(change: Change): void {
    const text = eventLine(change, this.#sentJson);
    if (text === undefined) return;
    for (const client of this.#clients) {
      client.response.write(text);
      if (client.response.writableLength <= client.limit) continue;
      this.#removeClient(client);
      drop(client);
    }
  }
}
