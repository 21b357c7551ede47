/** An authority of its own, for servers and clients in tests: made by `openssl`, of the Debian package of that name. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KeyPair {
  /** In PEM. */
  readonly key: string;
  readonly cert: string;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'] as const;
const EXTENSIONS = 'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n';

export class Authority {
  readonly #folder = mkdtempSync(join(tmpdir(), 'authority-'));

  constructor() {
    this.#openssl('req', '-x509', ...NEW_KEY, '-subj', '/CN=test authority', '-keyout', 'ca.key', '-out', 'ca.crt');
    writeFileSync(join(this.#folder, 'extensions'), EXTENSIONS);
  }

  /** Its certificate, in PEM. */
  get cert(): string {
    return this.#read('ca.crt');
  }

  /** Where its certificate lies. */
  get certFile(): string {
    return join(this.#folder, 'ca.crt');
  }

  /** Of a subject like `/O=group/CN=name`, for a server on loopback or a client. */
  issue(subject: string): KeyPair {
    this.#openssl('req', ...NEW_KEY, '-subj', subject, '-keyout', 'own.key', '-out', 'own.csr');
    this.#openssl(
      'x509',
      '-req',
      '-in',
      'own.csr',
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-extfile',
      'extensions',
      '-out',
      'own.crt',
    );
    return { key: this.#read('own.key'), cert: this.#read('own.crt') };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { cwd: this.#folder, stdio: ['ignore', 'ignore', 'pipe'] });
  }

  #read(name: string): string {
    return readFileSync(join(this.#folder, name), 'utf8');
  }
}
