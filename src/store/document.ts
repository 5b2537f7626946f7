import { goJson } from '../api/go-text.js';
import { memberText } from '../api/json-member.js';
import { parseJson, parseJsonInSteps } from '../api/json-text.js';
import type { Json, JsonObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import type { Document, Entry, Revision } from './store.js';

/** Returns a document without an offset for its revision. */
export const document = (value: Json): Document => ({ bytes: Buffer.from(goJson(value)), revisionAt: -1 });

/** Returns the document's bytes with the revision inserted. */
export function withRevision({ bytes, revisionAt }: Document, revision: Revision): Buffer {
  if (revisionAt < 0) return bytes;
  const digits = String(revision);
  // Not from Node's buffer pool, because a long-lived slice would keep the whole pool alive.
  const out = Buffer.allocUnsafeSlow(bytes.length + digits.length);
  bytes.copy(out, 0, 0, revisionAt);
  out.write(digits, revisionAt, 'latin1');
  bytes.copy(out, revisionAt + digits.length, revisionAt);
  return out;
}

/** An entry that parses its bytes when the value is first accessed. */
export class StoredEntry implements Entry {
  readonly key: string;
  readonly revision: Revision;
  readonly bytes: Buffer;
  readonly revisionAt: number;
  readonly keptAs: string;
  #parsed: WeakRef<object> | undefined;

  constructor(key: string, revision: Revision, bytes: Buffer, revisionAt: number, keptAs = '') {
    this.key = key;
    this.revision = revision;
    this.bytes = bytes;
    this.revisionAt = revisionAt;
    this.keptAs = keptAs;
  }

  get value(): Json {
    return (this.#parsed?.deref() as Json | undefined) ?? this.#keep(parseJson(this.bytes.toString('utf8')));
  }

  *read(): Steps<Json> {
    const known = this.#parsed?.deref();
    return known === undefined ? this.#keep(yield* parseJsonInSteps(this.bytes.toString('utf8'))) : (known as Json);
  }

  #keep(value: Json): Json {
    if (typeof value === 'object' && value !== null) this.#parsed = new WeakRef(value);
    return value;
  }

  *member(name: string): Steps<Json | undefined> {
    const known = this.#parsed?.deref();
    if (known !== undefined) return Object.hasOwn(known, name) ? (known as JsonObject)[name] : undefined;
    const text = memberText(this.bytes, name);
    return text === undefined ? undefined : yield* parseJsonInSteps(text.toString('utf8'));
  }
}

/**
 * An entry whose stored document could not be read. Each access to the document tries to read it again, and throws if
 * that fails.
 */
export class UnreadEntry implements Entry {
  readonly key: string;
  readonly revision: Revision;
  readonly revisionAt: number;
  /** The size of the stored form in bytes. */
  readonly size: number;
  /** Either the document or its stored form, never both, to save memory. */
  #state: StoredEntry | { readonly kept: Buffer; readonly read: () => StoredEntry };

  constructor(
    { key, revision, revisionAt, kept }: Pick<UnreadEntry, 'key' | 'revision' | 'revisionAt' | 'kept'>,
    read: () => StoredEntry,
  ) {
    this.key = key;
    this.revision = revision;
    this.revisionAt = revisionAt;
    this.size = kept.length;
    this.#state = { kept, read };
  }

  /** The stored form; empty once it has been read. */
  get kept(): Buffer {
    return this.#state instanceof StoredEntry ? nothing : this.#state.kept;
  }

  /** Whether the document has been read. */
  get isRead(): boolean {
    return this.#state instanceof StoredEntry;
  }

  get bytes(): Buffer {
    return this.#entry().bytes;
  }

  get keptAs(): string {
    return this.#entry().keptAs;
  }

  get value(): Json {
    return this.#entry().value;
  }

  read(): Steps<Json> {
    return this.#entry().read();
  }

  member(name: string): Steps<Json | undefined> {
    return this.#entry().member(name);
  }

  /** @throws Error if the document still cannot be read */
  check(): void {
    this.#entry();
  }

  isReadable(): boolean {
    try {
      this.check();
      return true;
    } catch {
      return false;
    }
  }

  at(revision: Revision): Entry {
    const { key, revisionAt, kept } = this;
    if (this.#state instanceof StoredEntry) return storedAt(this.#state, revision);
    return new UnreadEntry({ key, revision, revisionAt, kept }, () => storedAt(this.#entry(), revision));
  }

  #entry(): StoredEntry {
    if (!(this.#state instanceof StoredEntry)) this.#state = this.#state.read();
    return this.#state;
  }
}

const nothing = Buffer.alloc(0);

/** Returns the number of bytes of an entry's document, or of its stored form. */
export const sizeOf = (entry: Entry): number => (entry instanceof UnreadEntry ? entry.size : entry.bytes.length);

/** Returns the document of an entry, without its revision. */
export function documentOf({ bytes, revision, revisionAt }: Entry): Document {
  if (revisionAt < 0) return { bytes, revisionAt };
  const end = revisionAt + String(revision).length;
  return { bytes: Buffer.concat([bytes.subarray(0, revisionAt), bytes.subarray(end)]), revisionAt };
}

/** Returns an entry with the same document at another revision, as a deletion publishes it. */
export const atRevision = (entry: Entry, revision: Revision): Entry =>
  entry instanceof UnreadEntry ? entry.at(revision) : storedAt(entry, revision);

const storedAt = (entry: Entry, revision: Revision): StoredEntry =>
  new StoredEntry(entry.key, revision, withRevision(documentOf(entry), revision), entry.revisionAt, entry.keptAs);

/** Copies a small buffer out of Node's shared pool, so that keeping it does not keep the pool's memory alive. */
export function unpooled(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
