import { compareText } from '../../api/text-order.js';

const named =
  'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMAX RTMIN';
const counted = (name: string, sign: '+' | '-', count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${name}${sign}${at + 1}`);

/** Signals that may end a container, sorted by name. */
export const signals: readonly string[] = [
  ...named.split(' '),
  ...counted('RTMIN', '+', 15),
  ...counted('RTMAX', '-', 14),
]
  .map((name) => `SIG${name}`)
  .toSorted(compareText);
