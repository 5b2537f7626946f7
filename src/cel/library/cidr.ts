import { parsePrefix } from '../../api/go-ip.js';
import { ipText } from '../../api/ip-address.js';
import { perByte, type Range } from '../cost.js';
import type { Library } from '../functions.js';
import { exactly, plus, scaled } from '../ranges.js';
import { bool, int, opaque, string } from '../types.js';
import { Failure, type OpaqueValue, type Value } from '../values.js';
import { parsing, sizeEstimate, sizeOf, traversal } from './call-costs.js';
import { type Costs, global, member } from './declarations.js';
import { type IpValue, ipFrom, ipOf, ipType, isMapped, mappedFailure } from './ip.js';

/** Ranges of IP addresses: Kubernetes' `net.cidr` library. */

const cidrType = opaque('net.CIDR');

interface CidrValue extends OpaqueValue {
  readonly bytes: Buffer;
  readonly bits: number;
}

const cidrFrom = (bytes: Buffer, bits: number): CidrValue => ({
  kind: 'opaque',
  name: 'net.CIDR',
  bytes,
  bits,
  size: Math.ceil(bits / 8),
  equals: (other) => other.name === 'net.CIDR' && isSame(other as CidrValue, bytes, bits),
});

const isSame = (other: CidrValue, bytes: Buffer, bits: number): boolean =>
  other.bits === bits && other.bytes.equals(bytes);

const context = 'network address parse error during conversion from string: ';

function read(text: string): CidrValue | Failure {
  const prefix = parsePrefix(text);
  if ('wrong' in prefix) return new Failure(`${context}${prefix.wrong}`);
  return isMapped(prefix.bytes) ? mappedFailure(text) : cidrFrom(prefix.bytes, prefix.bits);
}

/** Parses a CIDR range. As in Kubernetes, a parse error has its context twice. */
function cidrOf(text: string): CidrValue | Failure {
  const value = read(text);
  return value instanceof Failure ? new Failure(`${context}${value.message}`) : value;
}

/** Returns the address with all bits after the prefix cleared. */
function masked(bytes: Buffer, bits: number): Buffer {
  return Buffer.from(bytes.map((byte, at) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * at))) & 0xff));
}

const contains = ({ bytes, bits }: CidrValue, address: Buffer): boolean =>
  bytes.length === address.length && masked(bytes, bits).equals(masked(address, bits));

const containsIp = (cidr: CidrValue, { bytes }: IpValue): boolean => contains(cidr, bytes);

/**
 * Whether the range contains the address in the text. As in Kubernetes, a text that is no address matches no overload.
 */
function containsIpText(cidr: CidrValue, text: string): boolean | Failure {
  const address = ipOf(text);
  return address instanceof Failure ? new Failure('no such overload') : containsIp(cidr, address);
}

const containsCidr = (cidr: CidrValue, other: CidrValue): boolean =>
  cidr.bits <= other.bits && contains(cidr, other.bytes);

function containsCidrText(cidr: CidrValue, text: string): boolean | Failure {
  const other = cidrOf(text);
  return other instanceof Failure ? other : containsCidr(cidr, other);
}

/** Returns the cost of comparing the bits of two addresses; for ranges, also of masking one of them. */
const comparing = ([cidr]: readonly Value[], masks: boolean): number =>
  traversal(2 * sizeOf(cidr)) + (masks ? traversal(sizeOf(cidr)) + 1 : 0);
const addressSizes: Range = { min: 4, max: 16 };
const comparison: Range = scaled(plus(addressSizes, addressSizes), perByte);
const maskedComparison = plus(comparison, plus(scaled(addressSizes, perByte), exactly(1)));

const containing = (masks: boolean, parses: boolean): Costs => ({
  cost: (values) => comparing(values, masks) + (parses ? traversal(sizeOf(values[1])) : 0),
  undecidedCost: (values) => comparing(values, masks),
  estimate: (_, [other]) => {
    const cost = masks ? maskedComparison : comparison;
    return { cost: parses ? plus(cost, scaled(sizeEstimate(other), perByte)) : cost };
  },
});

export const cidr: Library = {
  functions: [
    { name: 'cidr', overloads: [global('string_to_cidr', [string], cidrType, cidrOf, parsing())] },
    {
      name: 'isCIDR',
      overloads: [global('is_cidr', [string], bool, (text: string) => !(read(text) instanceof Failure), parsing())],
    },
    {
      name: 'containsIP',
      overloads: [
        member('cidr_contains_ip_string', [cidrType, string], bool, containsIpText, containing(false, true)),
        member('cidr_contains_ip_ip', [cidrType, ipType], bool, containsIp, containing(false, false)),
      ],
    },
    {
      name: 'containsCIDR',
      overloads: [
        member('cidr_contains_cidr_string', [cidrType, string], bool, containsCidrText, containing(true, true)),
        member('cidr_contains_cidr', [cidrType, cidrType], bool, containsCidr, containing(true, false)),
      ],
    },
    { name: 'ip', overloads: [member('cidr_ip', [cidrType], ipType, ({ bytes }: CidrValue) => ipFrom(bytes))] },
    {
      name: 'prefixLength',
      overloads: [member('cidr_prefix_length', [cidrType], int, ({ bits }: CidrValue) => BigInt(bits))],
    },
    {
      name: 'masked',
      overloads: [
        member('cidr_masked', [cidrType], cidrType, ({ bytes, bits }: CidrValue) =>
          cidrFrom(masked(bytes, bits), bits),
        ),
      ],
    },
    {
      name: 'string',
      overloads: [
        global('cidr_to_string', [cidrType], string, ({ bytes, bits }: CidrValue) => `${ipText(bytes)}/${bits}`),
      ],
    },
  ],
};
