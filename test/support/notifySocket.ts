/** A datagram socket as systemd has it for its services: Node.js cannot listen on one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Prints each word and the process that has sent it; the first line tells that it listens. */
const LISTENER = `
use Socket; $| = 1;
my $name = shift; $name =~ s/^@/\\0/;
socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die "socket: $!";
bind($socket, pack_sockaddr_un($name)) or die "bind: $!";
print "listening\\n";
while (defined recv($socket, my $word, 4096, 0)) { print "$word\\n" if length $word }
`;

export interface NotifySocket {
  /** What was said so far, without the barriers by which `systemd-notify` waits for an answer. */
  words(): readonly string[];
  end(): Promise<void>;
}

/** Listens at a path, or with a leading `@` at an abstract name. */
export async function notifySocket(name: string): Promise<NotifySocket> {
  const child = spawn('perl', ['-e', LISTENER, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  let heard = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
  });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  if (!heard.startsWith('listening')) throw new Error('there is no listener');
  return {
    words: () => heard.split('\n').filter((line) => line !== '' && line !== 'listening' && line !== 'BARRIER=1'),
    end: async () => {
      child.kill();
      await ended;
    },
  };
}
