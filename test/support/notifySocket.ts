/** A datagram socket like the one that systemd provides for its services. Node.js cannot listen on such a socket. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Perl program that prints each received message. Its first line says that it is listening. */
const LISTENER = `
use Socket; $| = 1;
my $name = shift; $name =~ s/^@/\\0/;
socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die "socket: $!";
bind($socket, pack_sockaddr_un($name)) or die "bind: $!";
print "listening\\n";
while (defined recv($socket, my $word, 4096, 0)) { print "$word\\n" if length $word }
`;

export interface NotifySocket {
  /** The messages received so far, without the barriers by which `systemd-notify` waits for a response. */
  words(): readonly string[];
  end(): Promise<void>;
}

/** Listens on a path or, with a leading `@`, on an abstract name. */
export async function notifySocket(name: string): Promise<NotifySocket> {
  const child = spawn('perl', ['-e', LISTENER, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  if (!output.startsWith('listening')) throw new Error('there is no listener');
  return {
    words: () => output.split('\n').filter((line) => line !== '' && line !== 'listening' && line !== 'BARRIER=1'),
    end: async () => {
      child.kill();
      await ended;
    },
  };
}
