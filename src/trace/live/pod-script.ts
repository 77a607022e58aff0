// What is run in a pod of another cluster: a script for any shell, which uses what the image has, and says what it found in lines that are
// read here. Values are arguments of the script, never part of it. Pure.
import type { AttemptResult, LiveQuery } from './live.ts';
import type { Attempt } from './live-request.ts';

/** Resolves a name as programs of the image do, search list included. Arguments: the name. */
const resolveScript = `
has() { command -v "$1" >/dev/null 2>&1; }
if [ -r /etc/resolv.conf ]; then while read -r line; do echo "resolv $line"; done </etc/resolv.conf; fi
[ -n "$1" ] || exit 0
if has getent; then echo "by getent"; getent ahosts "$1" | while read -r ip rest; do echo "ip $ip"; done
elif has python3; then echo "by python3"; python3 -c 'import socket,sys
for one in socket.getaddrinfo(sys.argv[1], None): print("ip", one[4][0])' "$1" 2>/dev/null
elif has node; then echo "by node"; node -e 'require("dns").lookup(process.argv[1],{all:true},(_,all)=>{for(const one of all||[])console.log("ip",one.address)})' "$1"
elif has nslookup; then echo "by nslookup"; nslookup "$1" 2>/dev/null | while read -r line; do echo "nslookup $line"; done
fi
exit 0`;

/** Arguments: seconds for each, how often, then addresses and ports. */
const connectScript = `
has() { command -v "$1" >/dev/null 2>&1; }
limit=$1; times=$2; shift 2
if has bash && has timeout; then tool=bash; elif has nc; then tool=nc; elif has python3; then tool=python3
elif has node; then tool=node; elif has wget; then tool=wget; elif has curl; then tool=curl; else exit 0; fi
echo "by $tool"
once() {
case $tool in
bash) timeout "$limit" bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>&1 ;;
nc) out=$(nc -z -v -w "$limit" "$1" "$2" 2>&1 </dev/null); code=$?
 case $out in *nvalid*|*nrecognized*|*sage:*) out=$(nc -w "$limit" "$1" "$2" 2>&1 </dev/null); code=$?;; esac
 echo "$out"; return $code ;;
python3) python3 -c 'import socket,sys
try: socket.create_connection((sys.argv[1],int(sys.argv[2])),float(sys.argv[3])).close()
except Exception as error: print(error); sys.exit(1)' "$1" "$2" "$limit" ;;
node) node -e 'const s=require("net").connect(process.argv[2],process.argv[1]);s.setTimeout(1000*process.argv[3],()=>{console.log("timed out");process.exit(1)});s.on("connect",()=>process.exit(0));s.on("error",(e)=>{console.log(e.message,e.code);process.exit(1)})' "$1" "$2" "$limit" ;;
*) case $1 in *:*) host="[$1]";; *) host=$1;; esac
 if [ "$tool" = wget ]; then wget -t 1 -T "$limit" -O /dev/null "http://$host:$2/" 2>&1
 else curl -s -S -g -m "$limit" -o /dev/null "telnet://$host:$2" </dev/null 2>&1; fi ;;
esac
}
while [ $# -gt 1 ]; do i=0
while [ $i -lt "$times" ]; do text=$(once "$1" "$2"); code=$?; echo "try $1 $2 $code" $text; i=$((i+1)); done
shift 2; done
exit 0`;

export function resolveCommand(name: string): readonly string[] {
  return ['sh', '-c', resolveScript, 'sh', name];
}

export type ConnectCommand = {
  readonly timeoutMs: number;
  readonly count: number;
  readonly targets: readonly { readonly address: string; readonly port: number }[];
};

export function connectCommand({ timeoutMs, count, targets }: ConnectCommand): readonly string[] {
  const seconds = Math.max(1, Math.ceil(timeoutMs / 1000));
  const words = targets.flatMap(({ address, port }) => [address, String(port)]);
  return ['sh', '-c', connectScript, 'sh', String(seconds), String(count), ...words];
}

export type Resolved = {
  /** The contents of its resolv.conf. */
  readonly resolver: string;
  /** The program that resolved the name; absent: the image has none. */
  readonly tool?: string;
  readonly query: Pick<LiveQuery, 'answer' | 'records'>;
};

const address = /^[0-9a-fA-F:.]{2,45}$/;
/** More say nothing more. */
const maxLines = 10_000;

export function readResolved(output: string): Resolved {
  const lines = linesOf(output);
  const starting = (word: string): readonly string[] =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  const [tool] = starting('by');
  const found = [...starting('ip'), ...afterName(starting('nslookup'))];
  const ips = [...new Set(found.filter((ip) => address.test(ip)))];
  return {
    resolver: starting('resolv').join('\n'),
    ...(tool === undefined ? {} : { tool }),
    query: {
      answer: ips.length === 0 ? 'no-such-name' : 'records',
      records: ips.map((data) => ({ type: data.includes(':') ? 'AAAA' : 'A', data })),
    },
  };
}

/** nslookup names its server first. */
function afterName(lines: readonly string[]): readonly string[] {
  const at = lines.findIndex((line) => line.startsWith('Name:'));
  if (at < 0) return [];
  return lines.slice(at).flatMap((line) => /^Address(?: \d+)?: (\S+)/.exec(line)?.[1] ?? []);
}

export type Tried = {
  /** Absent: nothing in the image can do it. */
  readonly tool?: string;
  /** By `address port`. */
  readonly attempts: ReadonlyMap<string, readonly Attempt[]>;
};

export function readTried(output: string): Tried {
  const attempts = new Map<string, Attempt[]>();
  let tool: string | undefined;
  for (const line of linesOf(output)) {
    const [word, ip = '', port = '', code = '', ...text] = line.split(' ');
    if (word === 'by') tool = ip;
    if (word !== 'try') continue;
    const key = `${ip} ${port}`;
    const known = attempts.get(key) ?? [];
    attempts.set(key, known);
    known.push(attemptOf(tool ?? '', Number(code), text.join(' ')));
  }
  return { ...(tool === undefined ? {} : { tool }), attempts };
}

/** Of a message that is cut off here. */
const maxWhy = 200;

function attemptOf(tool: string, code: number, text: string): Attempt {
  const result = resultOf(tool, code, text.toLowerCase());
  return {
    ...{ result, tookMs: 0 },
    ...(result === 'answered' || text === '' ? {} : { why: text.slice(0, maxWhy) }),
  };
}

/** How `timeout` ends what took too long. */
const stopped = 124;
/** curl: the operation timed out, which it does also with a connection that is open and silent. */
const silentCurl = 28;
/** curl: it could not connect, for a reason that new versions do not name. */
const refusedCurl = 7;

function resultOf(tool: string, code: number, text: string): AttemptResult {
  if (code === 0) return 'answered';
  // It got an answer, though not one that it wanted.
  if (tool === 'wget' && /connected|server returned|error getting response/.test(text)) {
    return 'answered';
  }
  if (text.includes('refused')) return 'refused';
  if (tool === 'curl' && code === silentCurl && !text.includes('connect')) return 'answered';
  if (code === stopped || /timed? ?out|in progress/.test(text)) return 'timeout';
  if (/unreachable|no route/.test(text)) return 'unreachable';
  if (text.includes('reset')) return 'reset';
  if (tool === 'curl' && code === refusedCurl) return 'refused';
  // nc without a word waited in vain.
  return tool === 'nc' && text === '' ? 'timeout' : 'failed';
}

function linesOf(output: string): readonly string[] {
  return output
    .split('\n')
    .slice(0, maxLines)
    .map((line) => line.trim());
}
