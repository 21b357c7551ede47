/** What a container's chart tells its author: the kubelet's reasons and messages. */
import type { Note } from '../pod/occurrence.ts';
import type { ContainerContext } from './containerContext.ts';

export const createdNote = ({ name }: ContainerContext): Note => ({
  reason: 'Created',
  message: `Created container: ${name}`,
});

export const startedNote = ({ name }: ContainerContext): Note => ({
  reason: 'Started',
  message: `Started container ${name}`,
});
