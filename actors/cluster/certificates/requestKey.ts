/**
 * Persists the private key of a pending certificate request. The key is stored at the kubelet's path until the
 * certificate is issued so that a restarted agent or a kubelet can resume the request
 * (`pkg/kubelet/certificate/bootstrap/bootstrap.go` of the kubelet, `util/keyutil/key.go` of client-go).
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import { syncDirectory } from '../../../host/files/syncDirectory.ts';
import { describeContents, parsePemBlocks } from '../../../kubeclient/pemBlocks.ts';
import { isReadFailure, readTextFile } from '../../sources/yaml/textFile.ts';
import { createUnusableFailure, writePrivate } from './privateFiles.ts';

const KEY_FILE = 'kubelet-client.key.tmp';

export class RequestKey {
  readonly #files: FileSystem;
  readonly #directory: string;
  readonly #path: string;

  constructor(files: FileSystem, directory: string) {
    this.#files = files;
    this.#directory = directory;
    this.#path = join(directory, KEY_FILE);
  }

  /**
   * Returns the key in the file, or writes and returns a new one. Reports an invalid file to `onInvalidKey` and
   * replaces it, whereas the kubelet would exit. Rejects if the file cannot be read or written.
   */
  async readOrCreate(onInvalidKey: (failure: NodeFailure) => void): Promise<KeyObject> {
    try {
      const storedKey = await this.#readKey();
      if (storedKey !== undefined && typeof storedKey !== 'string') return storedKey;
      if (storedKey !== undefined)
        onInvalidKey(new NodeFailure('CertificateUnusable', `${this.#path}: ${storedKey}; ${REPLACEMENT_MESSAGE}`));
      const key = generateKey();
      await writePrivate(this.#files, this.#path, encodeKey(key));
      await syncDirectory(this.#files, this.#directory);
      return key;
    } catch (cause) {
      throw createUnusableFailure(this.#directory, cause);
    }
  }

  /** Removes the key file, because the request is complete or useless. Ignores failures. */
  async discard(): Promise<void> {
    await this.#files.rm(this.#path, { force: true }).catch(() => {});
  }

  /**
   * Returns the key, a description of the file's contents if they are not a usable key, or undefined if there is no
   * file.
   */
  async #readKey(): Promise<KeyObject | string | undefined> {
    try {
      const file = await readTextFile(this.#files, this.#path);
      if (file === undefined) return undefined;
      return 'text' in file
        ? (findKey(file.text) ?? describeInvalidKey(describeContents(file.text)))
        : describeInvalidKey(file.noFile);
    } catch (error) {
      if (isReadFailure(error)) throw error;
      return messageOf(error);
    }
  }
}

const REPLACEMENT_MESSAGE = 'it is replaced by a new key, and a new certificate is requested';
const describeInvalidKey = (content: string): string => `expected a private key in PEM, RSA or ECDSA, found ${content}`;

/** Generates an ECDSA key on P-256, which takes less than a millisecond. */
export const generateKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** Encodes a key in PEM, in the same format as Go. */
export const encodeKey = (key: KeyObject): string =>
  String(key.export({ type: key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'sec1', format: 'pem' }));

const KEY_LABELS = ['EC PRIVATE KEY', 'RSA PRIVATE KEY', 'PRIVATE KEY'];
/** Supported ECDSA curves, by their OpenSSL names. */
const SUPPORTED_CURVES = ['prime256v1', 'secp384r1', 'secp521r1'];

/** Returns the first usable key, skipping other PEM blocks. */
function findKey(text: string): KeyObject | undefined {
  for (const { pem } of parsePemBlocks(text).filter(({ label }) => KEY_LABELS.includes(label))) {
    const key = readKey(pem);
    if (key !== undefined) return key;
  }
  return undefined;
}

function readKey(block: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(block);
    const { namedCurve = '' } = key.asymmetricKeyDetails ?? {};
    return key.asymmetricKeyType === 'rsa' || SUPPORTED_CURVES.includes(namedCurve) ? key : undefined;
  } catch {
    // The key is truncated, encrypted or of an unsupported type.
    return undefined;
  }
}
