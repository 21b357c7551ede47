/** Subscribes to a live node, applies its frames and reconnects after the connection is lost. */
import { batch } from '@preact/signals';
import type { Frame, Snapshot, StoryLine } from '../../inspect/protocol.ts';
import type { Page } from './page.ts';
import { withFrame, worldOf } from './world.ts';

/** A connection that sends a snapshot followed by frames. In a browser it is an EventSource. */
export interface Stream {
  onSnapshot(listener: (snapshot: Snapshot) => void): void;
  onFrame(listener: (frame: Frame) => void): void;
  onEnd(listener: () => void): void;
  close(): void;
}

interface Following {
  readonly open: () => Stream;
  readonly setTimeout: (after: () => void, ms: number) => unknown;
  readonly now: () => number;
  /** Called after each snapshot. Lines sent before it may have been missed. */
  readonly onSnapshot: () => void;
  /** Called with the live lines of each frame. */
  readonly onLines: (lines: readonly StoryLine[], unsaid: number) => void;
}

const RETRY_MS = 2_000;

/** Subscribes until the returned function is called. */
export function follow(page: Page, { open, setTimeout: later, now, onSnapshot, onLines }: Following): () => void {
  let isOver = false;
  let stream: Stream | undefined;
  const connect = () => {
    if (isOver) return;
    stream = open();
    stream.onSnapshot((snapshot) => {
      takeSnapshot(page, snapshot);
      onSnapshot();
    });
    stream.onFrame((frame) => {
      takeFrame(page, frame);
      onLines(frame.lines, frame.unsaid ?? 0);
    });
    stream.onEnd(() => {
      stream?.close();
      const lost = page.connection.peek();
      const since = lost.kind === 'lost' ? lost.since : now();
      page.connection.value = { kind: 'lost', since, retryAt: now() + RETRY_MS };
      later(connect, RETRY_MS);
    });
  };
  connect();
  return () => {
    isOver = true;
    stream?.close();
  };
}

function takeSnapshot(page: Page, snapshot: Snapshot): void {
  batch(() => {
    page.connection.value = { kind: 'live' };
    page.recorded.value = snapshot.recorded;
    page.live.value = worldOf(snapshot);
    page.tellTime(snapshot.at);
  });
}

function takeFrame(page: Page, frame: Frame): void {
  const { recorded } = page;
  batch(() => {
    page.live.value = withFrame(page.live.value, frame);
    page.tellTime(frame.at);
    if (page.held.peek()) page.sinceHeld.value += eventsIn(frame);
    const there = frame.recorded ?? recorded.peek();
    if (there) recorded.value = { ...there, to: Math.max(there.to, frame.at) };
  });
}

/** Counts the inputs in a frame. Lines that the server left out count as well, because their kind is unknown. */
const eventsIn = ({ lines, unsaid = 0 }: Frame): number =>
  lines.filter(({ kind }) => kind === 'entered').length + unsaid;
