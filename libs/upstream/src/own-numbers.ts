import { isRecord } from '@weir/protocol';

type Json = Readonly<Record<string, unknown>>;

/**
 * MiniMax's `base_resp.status_code`, sent with HTTP 200 (platform.minimax.io, error codes, read 2026-11;
 * those above 1033 by digests of the page that agree).
 * What is left out is a fault of the server: so is every number that nobody knows.
 */
const MINIMAX: Readonly<Record<string, number>> = {
  1002: 429,
  1004: 401,
  1008: 402,
  // The input, and the output, hurt a rule about content.
  1026: 400,
  1027: 400,
  // Tokens a minute, a growth too sudden, and a window of five hours.
  1039: 429,
  2045: 429,
  2056: 429,
  1042: 400,
  2013: 400,
  2049: 401,
};

/** Baidu's `error_code`, sent with HTTP 200 (cloud.baidu.com, WENXINWORKSHOP, error codes of 2025-09, read 2026-11). */
const BAIDU: Readonly<Record<string, number>> = {
  2: 503,
  3: 404,
  // The limit of their cluster, not of the account.
  4: 503,
  6: 403,
  13: 401,
  14: 401,
  // By the day, by the second, and for good.
  17: 429,
  18: 429,
  19: 402,
  100: 401,
  110: 401,
  111: 401,
};

/** The number by which a provider with a system of its own tells success (0) from failure; undefined where it sent none. */
export function ownNumber(json: Json): unknown {
  const base = json['base_resp'];
  if (isRecord(base)) return base['status_code'];
  return json['error_msg'] === undefined ? undefined : json['error_code'];
}

/** The HTTP status that such a number amounts to, where the provider documents it. */
export function ownStatus(json: Json): number | undefined {
  const table = isRecord(json['base_resp']) ? MINIMAX : BAIDU;
  const number = ownNumber(json);
  return typeof number === 'number' || typeof number === 'string' ? table[String(number)] : undefined;
}
