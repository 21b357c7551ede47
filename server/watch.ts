import type { ServerResponse } from 'node:http';
import type { AgentPort, PodChange } from './agent.ts';
import { failure } from './status.ts';

/** How much a watch client may leave unread, in bytes, beyond the pods that it began with. */
export const UNREAD_LIMIT = 4 * 1024 * 1024;

/** How long a dropped client may take to read why, in milliseconds. */
const FAREWELL_MS = 1000;

interface Client {
  readonly response: ServerResponse;
  readonly limit: number;
}

/** The watches of the agent's pods: each change is written out once, to all clients, at once. */
export interface PodWatch {
  /** Sends every pod as ADDED, then each change as it happens, until the client goes or falls behind. */
  add(response: ServerResponse): void;
  close(): void;
}

const line = (type: string, json: string) => `{"type":"${type}","object":${json}}\n`;

function drop({ response }: Client): void {
  const status = failure(410, 'Expired', 'the watch fell too far behind: list the pods and watch again');
  response.end(line('ERROR', JSON.stringify(status)));
  AbortSignal.timeout(FAREWELL_MS).addEventListener('abort', () => response.destroy());
}

/** The line that tells of a change, and the memory of what was told; nothing when the pod itself is the same. */
function lineOf(change: PodChange, told: Map<string, string>): string | undefined {
  const before = told.get(change.uid);
  const json = JSON.stringify(change.pod);
  if (change.removed) {
    told.delete(change.uid);
    return line('DELETED', json);
  }
  if (before === json) return undefined;
  told.set(change.uid, json);
  return line(before === undefined ? 'ADDED' : 'MODIFIED', json);
}

/** Watches an agent's pods for any number of clients; with none it costs nothing. */
export function watchPods(agent: AgentPort): PodWatch {
  const clients = new Set<Client>();
  const told = new Map<string, string>();
  let unsubscribe: (() => void) | undefined;

  const leave = (client: Client) => {
    clients.delete(client);
    if (clients.size > 0) return;
    unsubscribe?.();
    unsubscribe = undefined;
    told.clear();
  };
  const tell = (change: PodChange) => {
    const text = lineOf(change, told);
    if (text === undefined) return;
    for (const client of clients) {
      client.response.write(text);
      if (client.response.writableLength <= client.limit) continue;
      leave(client);
      drop(client);
    }
  };
  return {
    add(response) {
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
      response.flushHeaders();
      for (const pod of agent.pods()) {
        const json = JSON.stringify(pod);
        if (!told.has(pod.metadata.uid)) told.set(pod.metadata.uid, json);
        response.write(line('ADDED', json));
      }
      const client = { response, limit: response.writableLength + UNREAD_LIMIT };
      clients.add(client);
      unsubscribe ??= agent.subscribe(tell);
      response.on('close', () => leave(client));
    },
    close() {
      for (const client of [...clients]) {
        leave(client);
        client.response.end();
      }
    },
  };
}
