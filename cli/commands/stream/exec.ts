/** `statelet exec` and `statelet attach`, worded as kubectl's. */

import { NodeFailure } from '../../../base/failure.ts';
import { containerNamed } from '../../../kubernetes/api/containers.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { defaultContainer } from '../../../show/containerLog.ts';
import type { StreamRequest } from '../../../socket/agent.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { agentNamed } from '../../agent.ts';
import type { CommandTerminal } from '../../terminal/commandTerminal.ts';
import { podNameOf } from '../get/explain.ts';
import { askForPod } from './askPod.ts';
import { streamIn } from './streamIn.ts';

/** The flags of both commands. */
export interface AttachOptions {
  readonly namespace?: string;
  readonly container?: string;
  readonly stdin?: boolean;
  readonly tty?: boolean;
  readonly quiet?: boolean;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

export type ExecOptions = AttachOptions;

interface Meant {
  readonly agent: AgentClient;
  readonly pod: Pod;
  readonly container: Container;
}

/** Runs a command in a container; gives its exit code. */
export async function exec(
  words: readonly string[],
  command: readonly string[],
  options: ExecOptions,
  terminal: CommandTerminal,
): Promise<number> {
  const { agent, pod, container } = await meant('exec into', words, options, terminal);
  const isRaw = wantsRaw(options.tty ?? false, options, terminal);
  const request: StreamRequest = {
    uid: pod.metadata.uid,
    container: container.name,
    command,
    stdin: options.stdin ?? false,
    stdout: true,
    stderr: !isRaw,
    tty: isRaw,
  };
  return streamIn(agent, '/exec', request, { terminal, isRaw });
}

/** Attaches to the process of a container until that ends; gives the exit code, as far as the runtime tells one. */
export async function attach(
  words: readonly string[],
  options: AttachOptions,
  terminal: CommandTerminal,
): Promise<number> {
  const { agent, pod, container } = await meant('attach', words, options, terminal);
  const say = (text: string) => options.quiet || terminal.say(`${text}\n`);
  const hasTerminal = container.tty ?? false;
  if (options.tty && !hasTerminal) say(`error: Unable to use a TTY - container ${container.name} did not allocate one`);
  const isRaw = wantsRaw(hasTerminal, options, terminal);
  const request: StreamRequest = {
    uid: pod.metadata.uid,
    container: container.name,
    stdin: options.stdin ?? false,
    stdout: true,
    stderr: !hasTerminal,
    tty: hasTerminal,
  };
  for (const line of ATTACHED) say(line);
  const code = await streamIn(agent, '/attach', request, { terminal, isRaw, redraws: true });
  const again = `statelet attach pod/${pod.metadata.name} -c ${container.name} -n ${pod.metadata.namespace} -i -t`;
  if (isRaw) say(`Session ended, resume using '${again}' command`);
  return code;
}

const ATTACHED = [
  'All commands and output from this session will be recorded in container logs, including credentials and sensitive information passed through the command prompt.',
  "If you don't see a command prompt, try pressing enter.",
];

/** The container that is meant; throws where there is none, or none that can run any more. */
async function meant(
  deed: 'exec into' | 'attach',
  words: readonly string[],
  options: AttachOptions,
  terminal: CommandTerminal,
): Promise<Meant> {
  const name = podNameOf(words);
  const agent = await agentNamed(options);
  const pod = await askForPod(agent, name, options.namespace);
  const phase = pod.status?.phase;
  if (phase === 'Succeeded' || phase === 'Failed')
    throw new NodeFailure('BadRequest', `cannot ${deed} a container in a completed pod; current phase is ${phase}`);
  const chosen = options.container === undefined ? defaultContainer(pod) : { name: options.container };
  if (chosen.note !== undefined && !options.quiet) terminal.say(`${chosen.note}\n`);
  const container = containerNamed(pod.spec, chosen.name)?.container;
  if (container) return { agent, pod, container };
  const named = `container ${chosen.name}`;
  throw new NodeFailure(
    'BadRequest',
    deed === 'attach'
      ? `cannot attach to the container: ${named} not found in pod ${pod.metadata.name}`
      : `${named} is not valid for pod ${pod.metadata.name}`,
  );
}

/** Whether each key goes to the container: where that is to have a terminal, and there is one to read the keys of. */
function wantsRaw(isTty: boolean, { stdin, tty, quiet }: AttachOptions, { input, say }: CommandTerminal): boolean {
  if (!stdin || !isTty) return false;
  if (input.isTTY) return true;
  if (!quiet && tty) say('Unable to use a TTY - input is not a terminal or the right kind of file\n');
  return false;
}
