import { constants } from 'node:os';
import * as z from 'zod/mini';
import { COMMAND_PROTOCOLS, runRemoteCommand } from '../../../cri/streaming/remoteCommand.ts';
import { parseStreamingUrl } from '../../../cri/streaming/streamingUrl.ts';
import { dialSpdy } from '../../../cri/streaming/upgrade.ts';
import type { StreamEndpoint, StreamRequest } from '../../../socket/agent.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { type CommandTerminal, followSize, takeKeys, writableTo } from '../../terminal/commandTerminal.ts';
import { endOnSignals } from '../../terminal/signals.ts';

const placeShape = z.object({
  url: z.string(),
  stdin: z.boolean(),
  stdout: z.boolean(),
  stderr: z.boolean(),
  tty: z.boolean(),
});

/** So long the runtime's streaming server may take to answer, in milliseconds. */
const DIAL_MS = 10_000;

interface Streaming {
  readonly terminal: CommandTerminal;
  /** Whether each key goes to the container. */
  readonly isRaw: boolean;
  /** Whether the process has been drawing on a terminal before. */
  readonly redraws?: boolean;
}

/**
 * Reads and writes a container's streams at the place that the agent names, until they end: gives the exit code, and tells
 * one that is not 0, as kubectl does. A signal ends it with 128 and its number.
 */
export async function streamIn(
  agent: AgentClient,
  path: '/exec' | '/attach',
  request: StreamRequest,
  streaming: Streaming,
): Promise<number> {
  const place: StreamEndpoint = placeShape.parse(await agent.post(path, request));
  const signals = endOnSignals();
  const giveBack = streaming.isRaw ? takeKeys(streaming.terminal.input) : () => {};
  try {
    const code = await runAt(place, streaming, signals.asked);
    giveBack();
    if (code !== 0) streaming.terminal.say(`command terminated with exit code ${code}\n`);
    return code;
  } catch (error) {
    if (signals.asked.aborted) return exitCodeOf(signals.asked.reason);
    throw error;
  } finally {
    giveBack();
    signals.close();
  }
}

async function runAt(place: StreamEndpoint, { terminal, redraws }: Streaming, signal: AbortSignal): Promise<number> {
  const { input, screen, writeOut, writeErr } = terminal;
  const dialling = { protocols: COMMAND_PROTOCOLS, signal, timeoutMs: DIAL_MS };
  const { connection } = await dialSpdy(parseStreamingUrl(place.url), dialling);
  const streams = {
    stdin: place.stdin ? input : undefined,
    stdout: place.stdout ? writableTo(writeOut) : undefined,
    stderr: place.stderr ? writableTo(writeErr) : undefined,
    tty: place.tty
      ? { followSize: (tell: Parameters<typeof followSize>[1]) => followSize(screen, tell, redraws) }
      : undefined,
  };
  return runRemoteCommand(connection, streams, signal);
}

/** As shells have it: the signal is one of those that `endOnSignals` names. */
function exitCodeOf(reason: unknown): number {
  const found = Object.entries(constants.signals).find(([name]) => name === reason);
  return 128 + (found?.[1] ?? 0);
}
