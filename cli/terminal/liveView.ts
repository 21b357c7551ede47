import { startInterval, systemClock } from '../../base/time/clock.ts';
import { type PodWithTree, pairWithTrees } from '../../show/actors/podActors.ts';
import type { AgentPort } from '../../socket/agent.ts';
import { createSettledCheck, nodeReadiness, readinessText } from './table/ready.ts';

/** The display of `up` while the node runs. */
export interface LiveView {
  follow(agent: AgentPort): void;
  /**
   * Shows the link to the page. A table shows the link while it is open, and leaves the link on the terminal when it
   * closes.
   */
  showPage(url: string): void;
  /** Prints a line that remains after the view is closed. */
  print(line: string): void;
  close(): void;
}

/** The output stream, which is a terminal, a file or a pipe. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly hasColors?: () => boolean;
  write(text: string): unknown;
  on?(event: 'resize', listener: () => void): unknown;
  off?(event: 'resize', listener: () => void): unknown;
}

const READY_CHECK_MS = 250;

/**
 * Calls `onReady` once, with the line "node ready: …", when no pod is pending and the counts of pods have not changed
 * for a second.
 */
export function announceReady(agent: AgentPort, onReady: (line: string) => void): () => void {
  const isSettled = createSettledCheck();
  const check = () => {
    const { state, simulated } = agent.node();
    // Ignore the pods of a node that is still starting, because it may not have read all of them.
    const pods = ['running', 'partial'].includes(state) ? agent.pods() : [];
    const now = systemClock.now();
    const readiness = nodeReadiness(pods, now);
    if (!isSettled(readiness, now)) return;
    stop();
    const label = simulated ? ' (simulated)' : '';
    onReady(`node ready: ${readinessText(readiness, { names: true })}${label}`);
  };
  const unsubscribe = agent.subscribe(check);
  const stopTicking = startInterval(systemClock, READY_CHECK_MS, check);
  const stop = () => {
    unsubscribe();
    stopTicking();
  };
  check();
  return stop;
}

/** Returns the pods of a node, each with its actors. */
export const livePods = (agent: AgentPort): PodWithTree[] => pairWithTrees(agent.pods(), agent.trees());
