/** Carries out the schedule on the API server, the node's requests, its agent and its runtime. */
import { setTimeout as pause } from 'node:timers/promises';
import { findContainerd } from '../../../../cri/managed/containerd/process.ts';
import { layoutOf } from '../../../../cri/managed/layout.ts';
import type { Attributes } from '../../../../testing/apiserver/authorization/attributes.ts';
import type { TestCluster } from '../cluster.ts';
import { eventually } from '../eventually.ts';
import type { Statelet } from '../statelet.ts';
import type { Users } from './pods.ts';
import type { Asked, Kill, RequestTrouble, Schedule, ServerTrouble, Step } from './schedule.ts';

const NODE_USER = 'system:node:node';

/** Whether a request is of this kind. */
function isOfKind(of: Asked, asked: Attributes): boolean {
  const { verb } = asked;
  const writes = ['create', 'update', 'patch', 'delete'].includes(verb);
  switch (of) {
    case 'watches':
      return verb === 'watch';
    case 'reads':
      return verb === 'get' || verb === 'list';
    case 'statuses':
      return writes && 'resource' in asked && asked.resource === 'pods';
    default:
      return writes;
  }
}

export class Wreckers {
  readonly #cluster: TestCluster;
  readonly #users: Users;
  readonly #agents: Statelet[];
  readonly #rules: (() => void)[] = [];

  constructor(cluster: TestCluster, users: Users, agent: Statelet) {
    this.#cluster = cluster;
    this.#users = users;
    this.#agents = [agent];
  }

  /** Runs all lanes to the end of the schedule. A failure in one lane stops the others. */
  async wreak({ server, requests, kills, users }: Schedule): Promise<void> {
    const ending = new AbortController();
    const each = async <T>(steps: readonly Step<T>[], act: (what: T) => unknown) => {
      for (const { afterMs, what } of steps) {
        await pause(afterMs, undefined, ending);
        await act(what);
      }
    };
    const lanes = [
      each(server, (what) => this.#troubleServer(what)),
      each(requests, (what) => this.#troubleRequests(what)),
      each(kills, (what) => this.#kill(what)),
      each(users, (deed) => this.#users.perform(deed)),
    ];
    await Promise.all(lanes).catch(async (error) => {
      ending.abort();
      await Promise.allSettled(lanes);
      throw error;
    });
  }

  /** Ends all faults, and cuts all connections once more, which also ends silent watches. */
  async calm(): Promise<void> {
    for (const end of this.#rules.splice(0)) end();
    await this.#outage(0);
    await this.#answers();
  }

  /** Kills the agent once more, and waits until the next one responds. */
  async restartAgent(): Promise<void> {
    await this.#kill({ kind: 'kill', who: 'agent', awayMs: 0, awaited: true });
  }

  /** Output of all agents, for debugging. */
  get output(): string {
    return this.#agents.map(({ out, err }, index) => `agent ${index}:\n${out()}${err()}`).join('\n');
  }

  get #agent(): Statelet {
    const agent = this.#agents.at(-1);
    if (agent === undefined) throw new Error('there is no agent');
    return agent;
  }

  async #outage(ms: number): Promise<void> {
    await this.#cluster.stopServing();
    await pause(ms);
    await this.#cluster.serveAgain();
  }

  async #troubleServer(trouble: ServerTrouble): Promise<void> {
    const { server } = this.#cluster;
    if (trouble.kind === 'outage') return await this.#outage(trouble.ms);
    if (trouble.kind === 'amnesia') {
      server.compactHistory();
      return await this.#outage(0);
    }
    const end = server.faults.add({ fault: { kind: 'silent' }, matches: ({ verb }) => verb === 'watch' });
    await this.#outage(0);
    await pause(trouble.ms);
    end();
    await this.#outage(0);
  }

  #troubleRequests({ fault, times, of }: RequestTrouble): void {
    const matches = (asked: Attributes, user: string) => user === NODE_USER && isOfKind(of, asked);
    this.#rules.push(this.#cluster.server.faults.add({ fault, times, matches }));
  }

  async #kill({ who, awayMs, awaited }: Kill): Promise<void> {
    // A process must not have exited unless it was killed here.
    this.#agent.mustLive();
    if (who !== 'runtime') {
      this.#agent.kill('SIGKILL', 'group');
      await this.#agent.ended;
    }
    if (who !== 'agent') await this.#killRuntime();
    if (who === 'runtime') return;
    await pause(awayMs);
    this.#agents.push(this.#cluster.launch());
    if (awaited) await this.#answers();
  }

  async #killRuntime(): Promise<void> {
    const found = await findContainerd(layoutOf(this.#cluster.node.containerdDirectory));
    if (found !== undefined) process.kill(found.pid, 'SIGKILL');
  }

  async #answers(): Promise<void> {
    await eventually('the agent answers', () => {
      this.#agent.mustLive();
      return this.#cluster.node.ask('/node');
    });
  }
}
