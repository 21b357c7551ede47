/** Sends the events of one agent to the API server. */

import { createEventRecorder } from '../../../actors/events/eventRecorder.ts';
import { EventSender, type EventSenderDependencies } from '../../../actors/events/eventSender.ts';
import type { EventSink } from '../../../actors/events/eventSink.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { NODE_NAME } from '../host/host.ts';

interface NodeEventsParts extends Pick<EventSenderDependencies, 'client' | 'jitter' | 'hasQueuedStarts' | 'onState'> {
  readonly clock: Clock;
}

export class NodeEvents {
  readonly record: EventSink;
  readonly #sender: EventSender;

  constructor(parts: NodeEventsParts) {
    const { signal } = new AbortController();
    const sender = new EventSender({ ...parts, signal, onError: () => {} });
    const recorder = createEventRecorder(NODE_NAME, () => parts.clock.now());
    recorder.subscribe(({ event, removed }) => {
      if (!removed) sender.send(event);
    });
    this.record = recorder.record;
    this.#sender = sender;
  }

  setNodeUid(uid: string): void {
    this.#sender.setNodeUid(uid);
  }
}
