import type { RecordedEvent } from '../../../kubernetes/events/recordedEvent.ts';

/** Whether the event reports that the node has noticed a shutdown of its host. */
export const isShutdownAnnouncement = ({ reason, message }: Pick<RecordedEvent, 'reason' | 'message'>): boolean =>
  reason === 'Shutdown' && message === 'Shutdown manager detected shutdown event';
