/** `statelet exec` and `statelet attach`: run or attach to a process in a container, with kubectl's messages. */

import { NodeFailure } from '../../../base/failure.ts';
import { findContainerByName } from '../../../kubernetes/api/pods/containers.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { defaultContainer } from '../../../show/containerLog.ts';
import type { StreamRequest } from '../../../socket/agent.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { connectAgent } from '../../connectAgent.ts';
import type { CommandTerminal } from '../../terminal/commandTerminal.ts';
import { parsePodName } from '../get/explain.ts';
import { fetchPod } from './fetchPod.ts';
import { streamContainer } from './streamContainer.ts';

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

interface ExecTarget {
  readonly agent: AgentClient;
  readonly pod: Pod;
  readonly container: Container;
}

/** Runs a command in a container and returns its exit code. */
export async function exec(
  args: readonly string[],
  command: readonly string[],
  options: ExecOptions,
  terminal: CommandTerminal,
): Promise<number> {
  const { agent, pod, container } = await findTarget('exec into', args, options, terminal);
  const isRaw = needsRawMode(options.tty ?? false, options, terminal);
  const request: StreamRequest = {
    uid: pod.metadata.uid,
    container: container.name,
    command,
    stdin: options.stdin ?? false,
    stdout: true,
    stderr: !isRaw,
    tty: isRaw,
  };
  return streamContainer(agent, '/exec', request, { terminal, isRaw });
}

/** Attaches to the process of a container until it exits. Returns the exit code if the runtime reports it, else 0. */
export async function attach(
  args: readonly string[],
  options: AttachOptions,
  terminal: CommandTerminal,
): Promise<number> {
  const { agent, pod, container } = await findTarget('attach', args, options, terminal);
  const printNote = (text: string) => options.quiet || terminal.printMessage(`${text}\n`);
  const hasTerminal = container.tty ?? false;
  if (options.tty && !hasTerminal)
    printNote(`error: Unable to use a TTY - container ${container.name} did not allocate one`);
  const isRaw = needsRawMode(hasTerminal, options, terminal);
  const request: StreamRequest = {
    uid: pod.metadata.uid,
    container: container.name,
    stdin: options.stdin ?? false,
    stdout: true,
    stderr: !hasTerminal,
    tty: hasTerminal,
  };
  for (const line of ATTACH_NOTES) printNote(line);
  const exitCode = await streamContainer(agent, '/attach', request, { terminal, isRaw, shouldRedraw: true });
  const resumeCommand = `statelet attach pod/${pod.metadata.name} -c ${container.name} -n ${pod.metadata.namespace} -i -t`;
  if (isRaw) printNote(`Session ended, resume using '${resumeCommand}' command`);
  return exitCode;
}

const ATTACH_NOTES = [
  'All commands and output from this session will be recorded in container logs, including credentials and sensitive information passed through the command prompt.',
  "If you don't see a command prompt, try pressing enter.",
];

/** Finds the container. Throws a `NodeFailure` if it does not exist or its pod has completed. */
async function findTarget(
  action: 'exec into' | 'attach',
  args: readonly string[],
  options: AttachOptions,
  terminal: CommandTerminal,
): Promise<ExecTarget> {
  const name = parsePodName(args);
  const agent = await connectAgent(options);
  const pod = await fetchPod(agent, name, options.namespace);
  const phase = pod.status?.phase;
  if (phase === 'Succeeded' || phase === 'Failed')
    throw new NodeFailure('BadRequest', `cannot ${action} a container in a completed pod; current phase is ${phase}`);
  const selectedContainer = options.container === undefined ? defaultContainer(pod) : { name: options.container };
  if (selectedContainer.note !== undefined && !options.quiet) terminal.printMessage(`${selectedContainer.note}\n`);
  const container = findContainerByName(pod.spec, selectedContainer.name)?.container;
  if (container) return { agent, pod, container };
  const containerText = `container ${selectedContainer.name}`;
  throw new NodeFailure(
    'BadRequest',
    action === 'attach'
      ? `cannot attach to the container: ${containerText} not found in pod ${pod.metadata.name}`
      : `${containerText} is not valid for pod ${pod.metadata.name}`,
  );
}

/** Whether to use raw mode, i.e. whether the container has a terminal and standard input is a terminal too. */
function needsRawMode(
  isTty: boolean,
  { stdin, tty, quiet }: AttachOptions,
  { input, printMessage }: CommandTerminal,
): boolean {
  if (!stdin || !isTty) return false;
  if (input.isTTY) return true;
  if (!quiet && tty) printMessage('Unable to use a TTY - input is not a terminal or the right kind of file\n');
  return false;
}
