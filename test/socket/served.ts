/** An agent with two pods behind a socket, created for each test of a file. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import { type AgentSocket, serveSocket } from '../../socket/socket.ts';
import { type FakeAgent, fakeAgent } from '../fakes/agent.ts';
import { NOW, podView, running, type ShownPod, sandbox } from '../kubernetes/views.ts';

/** Returns a running pod. */
export const pod = (name: string, view: Partial<ShownPod> = {}, annotations: Record<string, string> = {}) =>
  podView({
    main: { web: running() },
    meta: { name, uid: `uid-${name}`, annotations },
    spec: { nodeName: 'host' },
    view: { sandbox: sandbox('10.1.0.2'), ...view },
  });

interface Served {
  /** The directory of the socket. */
  directory: string;
  agent: FakeAgent;
  /** A test that closes the socket replaces it. */
  socket: AgentSocket;
}

/** Serves `web-host` and `db-host` to each test. Call it at the top level of the file. */
export function servedToEachTest(): Served {
  // `beforeEach` sets the properties before a test uses them.
  const served = {} as Served;
  beforeEach(async () => {
    served.directory = await mkdtemp(join(tmpdir(), 'statelet-socket-'));
    served.agent = fakeAgent({ now: NOW, views: [pod('web-host'), pod('db-host')] });
    served.socket = await serveSocket({ path: join(served.directory, 's.sock'), agent: served.agent });
  });
  afterEach(async () => {
    await served.socket.close();
    await rm(served.directory, { recursive: true });
  });
  return served;
}
