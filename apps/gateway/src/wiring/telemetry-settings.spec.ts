import { telemetrySettings } from './telemetry-settings.js';

const DEFAULTS = {
  logLevel: 'info',
  mode: 'on',
  exportRatio: 1,
  service: { name: 'weir', version: '0.1.0' },
};

describe('telemetrySettings', () => {
  it('has defaults, also for what is empty', () => {
    const names = ['WEIR_LOG_LEVEL', 'WEIR_TELEMETRY', 'WEIR_TRACE_EXPORT_RATIO', 'OTEL_SERVICE_NAME'];
    const empty = [...names, 'OTEL_EXPORTER_OTLP_ENDPOINT'].map((name) => [name, ''] as const);
    expect(telemetrySettings({})).toEqual(DEFAULTS);
    expect(telemetrySettings(Object.fromEntries(empty))).toEqual(DEFAULTS);
  });

  it('takes what is set', () => {
    const env = {
      WEIR_LOG_LEVEL: 'warn',
      WEIR_TELEMETRY: 'off',
      WEIR_TRACE_EXPORT_RATIO: '0',
      OTEL_SERVICE_NAME: 'edge',
      npm_package_version: '1.2.3',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    };
    expect(telemetrySettings(env)).toEqual({
      logLevel: 'warn',
      mode: 'off',
      exportRatio: 0,
      service: { name: 'edge', version: '1.2.3' },
      endpoint: 'http://collector:4318',
    });
  });

  it.each([
    ['WEIR_LOG_LEVEL', 'verbose', 'debug, info, warn, error, silent'],
    ['WEIR_LOG_LEVEL', 'WARN', 'debug, info, warn, error, silent'],
    ['WEIR_TELEMETRY', 'false', 'on, off'],
    ['WEIR_TRACE_EXPORT_RATIO', '10%', 'from 0 to 1'],
    ['WEIR_TRACE_EXPORT_RATIO', '2', 'from 0 to 1'],
  ])('refuses %s=%s, and says what is allowed', (name, value, allowed) => {
    const run = (): unknown => telemetrySettings({ [name]: value });
    expect(run).toThrow(name);
    expect(run).toThrow(allowed);
  });
});
