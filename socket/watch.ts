import type { ServerResponse } from 'node:http';
import { startLimit } from '../base/limit.ts';
import type { AgentPort } from './agent.ts';
import { failure } from './status.ts';

/** How much a watch client may leave unread, in bytes, beyond the objects that it began with. */
export const UNREAD_LIMIT = 4 * 1024 * 1024;

/** How long a dropped client may take to read why, in milliseconds. */
const FAREWELL_MS = 10_000;

interface Client {
  readonly response: ServerResponse;
  readonly limit: number;
}

/** What can be watched: objects that come, change and go, each under a key of its own. */
interface Watched {
  objects(): Iterable<readonly [key: string, object: unknown]>;
  subscribe(listener: (change: Change) => void): () => void;
}

interface Change {
  readonly key: string;
  readonly object: unknown;
  readonly removed: boolean;
}

/** The watches of objects of one kind: each change is written out once, to all clients, at once. */
export interface Watch {
  /** Sends every object as ADDED, then each change as it happens, until the client goes or falls behind. */
  add(response: ServerResponse): void;
  close(): void;
}

const line = (type: string, json: string) => `{"type":"${type}","object":${json}}\n`;

function drop({ response }: Client): void {
  const status = failure(410, 'Expired', 'the watch fell too far behind: list again and start a new watch');
  response.end(line('ERROR', JSON.stringify(status)));
  startLimit(FAREWELL_MS).signal.addEventListener('abort', () => response.destroy());
}

/** The line that tells of a change, and the memory of what was told; nothing when the object itself is the same. */
function lineOf({ key, object, removed }: Change, told: Map<string, string>): string | undefined {
  const before = told.get(key);
  const json = JSON.stringify(object);
  if (removed) {
    told.delete(key);
    return line('DELETED', json);
  }
  if (before === json) return undefined;
  told.set(key, json);
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

/** Watches objects for any number of clients; with none it costs nothing. */
const watchObjects = (watched: Watched): Watch => new ObjectWatch(watched);

class ObjectWatch implements Watch {
  readonly #watched: Watched;
  readonly #clients = new Set<Client>();
  readonly #told = new Map<string, string>();
  #unsubscribe: (() => void) | undefined;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  add(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.flushHeaders();
    for (const [key, object] of this.#watched.objects()) {
      const json = JSON.stringify(object);
      if (!this.#told.has(key)) this.#told.set(key, json);
      response.write(line('ADDED', json));
    }
    const client = { response, limit: response.writableLength + UNREAD_LIMIT };
    this.#clients.add(client);
    this.#unsubscribe ??= this.#watched.subscribe((change) => this.#tell(change));
    response.on('close', () => this.#leave(client));
  }

  close(): void {
    for (const client of [...this.#clients]) {
      this.#leave(client);
      client.response.end();
    }
  }

  #leave(client: Client): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#told.clear();
  }

  #tell(change: Change): void {
    const text = lineOf(change, this.#told);
    if (text === undefined) return;
    for (const client of this.#clients) {
      client.response.write(text);
      if (client.response.writableLength <= client.limit) continue;
      this.#leave(client);
      drop(client);
    }
  }
}
