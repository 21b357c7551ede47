/**
 * The context in which jest evaluates a test file and all that it imports. In a context as jest makes it, each use of a
 * global name, as of `Map` or `Error`, asks a proxy; in this one they are plain properties, as in any program.
 */
import { createRequire } from 'node:module';
import { constants, createContext } from 'node:vm';
import type nodeEnvironment from 'jest-environment-node';

// Its types are those of its CommonJS module; an import would load another one, without them.
const { TestEnvironment }: typeof nodeEnvironment = createRequire(import.meta.url)('jest-environment-node');

/** Binary data is of the same classes here as in the modules of Node.js. */
const OF_NODE = new Set<PropertyKey>(['Buffer', 'ArrayBuffer', 'Uint8Array']);

/** Gives the target a property of the source; one that has a getter there is asked for at its first use. */
function copyProperty(target: object, source: object, key: PropertyKey): void {
  const { get, set: _, ...descriptor } = Object.getOwnPropertyDescriptor(source, key) ?? {};
  if (get === undefined) {
    Object.defineProperty(target, key, descriptor);
    return;
  }
  const become = (value: unknown) => Object.defineProperty(target, key, { ...descriptor, value, writable: true });
  const first = (): unknown => {
    become(Reflect.get(source, key));
    return Reflect.get(target, key);
  };
  Object.defineProperty(target, key, { ...descriptor, get: first, set: become });
}

/** Another one of its class, whose package this one has no other way to. */
const madeAgain = <T>(made: T, given: unknown): T => Reflect.construct(Object(made).constructor, [given]);

export default class TestContext extends TestEnvironment {
  constructor(...parameters: ConstructorParameters<typeof TestEnvironment>) {
    super(...parameters);
    const ofJest = this.global;
    // Of a context that is made so, this is the global object.
    const plain = createContext(constants.DONT_CONTEXTIFY) as typeof ofJest;
    const own = new Set(Reflect.ownKeys(plain));
    for (const key of Reflect.ownKeys(ofJest)) {
      if (OF_NODE.has(key) || !own.has(key)) copyProperty(plain, ofJest, key);
    }
    plain.global = plain;
    plain.Error.stackTraceLimit = ofJest.Error.stackTraceLimit;
    this.context = plain;
    this.global = plain;
    const [{ projectConfig: config }] = parameters;
    this.fakeTimersModern = madeAgain(this.fakeTimersModern, { config, global: plain });
    this.moduleMocker = madeAgain(this.moduleMocker, plain);
  }
}
