/** Subscribes to a live node, applies its frames and reconnects after the connection is lost. */
import { batch } from '@preact/signals';
import type { Frame, Snapshot, StoryLine } from '../../../inspect/protocol.ts';
import type { Page } from '../page.ts';
import { withFrame, worldOf } from './world.ts';

/** A stream of events that consists of a snapshot and subsequent frames. In a browser, it is an EventSource. */
export interface EventStream {
  onSnapshot(listener: (snapshot: Snapshot) => void): void;
  onFrame(listener: (frame: Frame) => void): void;
  onEnd(listener: () => void): void;
  close(): void;
}

interface SubscriptionOptions {
  readonly open: () => EventStream;
  readonly setTimeout: (after: () => void, ms: number) => unknown;
  readonly now: () => number;
  /** Called after each snapshot, because the page may have missed story lines from before the snapshot. */
  readonly onSnapshot: () => void;
  /**
   * Called with the story lines in each frame, and with the number of lines that the server has omitted from the frame.
   */
  readonly onLines: (lines: readonly StoryLine[], unsaid: number) => void;
}

const RETRY_MS = 2_000;

/** Subscribes until the returned function is called. */
export function subscribe(
  page: Page,
  { open, setTimeout: scheduleTimeout, now, onSnapshot, onLines }: SubscriptionOptions,
): () => void {
  let isClosed = false;
  let stream: EventStream | undefined;
  const connect = () => {
    if (isClosed) return;
    stream = open();
    stream.onSnapshot((snapshot) => {
      applySnapshot(page, snapshot);
      onSnapshot();
    });
    stream.onFrame((frame) => {
      applyFrame(page, frame);
      onLines(frame.lines, frame.unsaid ?? 0);
    });
    stream.onEnd(() => {
      stream?.close();
      const connection = page.connection.peek();
      const since = connection.kind === 'lost' ? connection.since : now();
      page.connection.value = { kind: 'lost', since, retryAt: now() + RETRY_MS };
      scheduleTimeout(connect, RETRY_MS);
    });
  };
  connect();
  return () => {
    isClosed = true;
    stream?.close();
  };
}

function applySnapshot(page: Page, snapshot: Snapshot): void {
  batch(() => {
    page.connection.value = { kind: 'live' };
    page.recordedRange.value = snapshot.recorded;
    page.live.value = worldOf(snapshot);
    page.syncClock(snapshot.at);
  });
}

function applyFrame(page: Page, frame: Frame): void {
  const { recordedRange: recordedSignal } = page;
  batch(() => {
    page.live.value = withFrame(page.live.value, frame);
    page.syncClock(frame.at);
    if (page.frozen.peek()) page.eventsSinceFreeze.value += countInputs(frame);
    const recordedRange = frame.recorded ?? recordedSignal.peek();
    if (recordedRange) recordedSignal.value = { ...recordedRange, to: Math.max(recordedRange.to, frame.at) };
  });
}

/** Counts the inputs in a frame. Omitted lines count as well, because their kind is unknown. */
const countInputs = ({ lines, unsaid = 0 }: Frame): number =>
  lines.filter(({ kind }) => kind === 'entered').length + unsaid;
