import { constants } from 'node:os';
import * as z from 'zod/mini';
import { COMMAND_PROTOCOLS, runRemoteCommand } from '../../../cri/streaming/remoteCommand.ts';
import { parseStreamingUrl } from '../../../cri/streaming/streamingUrl.ts';
import { dialSpdy } from '../../../cri/streaming/upgrade.ts';
import type { StreamEndpoint, StreamRequest } from '../../../socket/agent.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { type CommandTerminal, enterRawMode, followSize, writableTo } from '../../terminal/commandTerminal.ts';
import { handleStopSignals } from '../../terminal/signals.ts';

const endpointSchema = z.object({
  url: z.string(),
  stdin: z.boolean(),
  stdout: z.boolean(),
  stderr: z.boolean(),
  tty: z.boolean(),
});

/** Time limit for connecting to the runtime's streaming server, in milliseconds. */
const DIAL_TIMEOUT_MS = 10_000;

interface StreamingOptions {
  readonly terminal: CommandTerminal;
  /** Whether the terminal is in raw mode, in which case each key goes to the container. */
  readonly isRaw: boolean;
  /**
   * Whether to make the process in the container redraw its screen, which it may have drawn before this client
   * attached.
   */
  readonly shouldRedraw?: boolean;
}

/**
 * Streams to and from a container through the endpoint that the agent returns. Returns the exit code, or 128 plus the
 * signal's number after a signal. Like kubectl, prints an exit code other than 0.
 */
export async function streamContainer(
  agent: AgentClient,
  path: '/exec' | '/attach',
  request: StreamRequest,
  streamingOptions: StreamingOptions,
): Promise<number> {
  const endpoint: StreamEndpoint = endpointSchema.parse(await agent.post(path, request));
  const signals = handleStopSignals();
  const restoreTerminal = streamingOptions.isRaw ? enterRawMode(streamingOptions.terminal.input) : () => {};
  try {
    const exitCode = await runStreams(endpoint, streamingOptions, signals.stopSignal);
    restoreTerminal();
    if (exitCode !== 0) streamingOptions.terminal.printMessage(`command terminated with exit code ${exitCode}\n`);
    return exitCode;
  } catch (error) {
    if (signals.stopSignal.aborted) return signalExitCode(signals.stopSignal.reason);
    throw error;
  } finally {
    restoreTerminal();
    signals.close();
  }
}

async function runStreams(
  endpoint: StreamEndpoint,
  { terminal, shouldRedraw }: StreamingOptions,
  signal: AbortSignal,
): Promise<number> {
  const { input, screen, writeOut, writeErr } = terminal;
  const dialOptions = { protocols: COMMAND_PROTOCOLS, signal, timeoutMs: DIAL_TIMEOUT_MS };
  const { connection } = await dialSpdy(parseStreamingUrl(endpoint.url), dialOptions);
  const streams = {
    stdin: endpoint.stdin ? input : undefined,
    stdout: endpoint.stdout ? writableTo(writeOut) : undefined,
    stderr: endpoint.stderr ? writableTo(writeErr) : undefined,
    tty: endpoint.tty
      ? { followSize: (onSize: Parameters<typeof followSize>[1]) => followSize(screen, onSize, shouldRedraw) }
      : undefined,
  };
  return runRemoteCommand(connection, streams, signal);
}

/** Returns the exit code that shells use to report a signal. `reason` is the abort reason of `handleStopSignals`. */
function signalExitCode(reason: unknown): number {
  const match = Object.entries(constants.signals).find(([name]) => name === reason);
  return 128 + (match?.[1] ?? 0);
}
