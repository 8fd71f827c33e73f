"""What is taken out of texts and values, and what stays."""

from __future__ import annotations

import datetime
import enum
import hashlib
import json
import logging
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trackway.capture import (
    DEFAULT_REDACTOR,
    EMAIL,
    PHONE,
    Capture,
    SecretPattern,
    capture_errors,
    redactor,
)
from trackway.capture.errors import reset_capture_errors
from trackway.capture.search import Work
from trackway.capture.secret_patterns import KEYS

CAPTURE = Capture()
HIDDEN = "[redacted:key_name]"
# Written in pieces, so that no scanner takes this file for a leak.
JWT = "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLXNpZ25hdHVyZQ"
PEM = (
    "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEowIBAAKCAQEA\n4f5wg5l2hKsTeNem\n"
    "-----END RSA PRIVATE" + " KEY-----"
)
SECRETS = {
    "sk" + "-proj-AbCdEfGhIjKlMnOpQrStUvWx": "api_key",
    "sk" + "-ant-api03-AbCdEfGhIjKlMnOpQrSt_UvWx-yz": "api_key",
    "AKIA" + "IOSFODNN7EXAMPLE": "aws_access_key",
    "AIza" + "SyA-1234567890abcdefghijklmnopqrstu": "google_api_key",
    "ya29" + ".a0AfH6SMBx1234567890": "google_token",
    "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a": "api_key",
    "github" + "_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz": "api_key",
    "glpat" + "-1234567890abcdefghij": "api_key",
    "hf" + "_abcdefghijklmnopqrstuvwxyz123456": "api_key",
    "gsk" + "_1234567890abcdefghijklmnop": "api_key",
    "npm" + "_1234567890abcdefghijklmnopqrstuvwxyz": "api_key",
    "pypi" + "-AgEIcHlwaS5vcmcCJDEyMzQ1Njc4": "api_key",
    "sk_live" + "_4eC39HqLyjWDarjtT1zdp7dc": "api_key",
    "pcsk" + "_6jXyZ_abcdefghijklmnopqrstuv": "api_key",
    "xoxb" + "-123456789012-abcdefghijkl": "slack_token",
    "SG" + ".abcdefghijklmnopqrstuv.ABCDEFGHIJKLMNOPQRSTUV": "sendgrid_key",
    "dapi" + "0123456789abcdef0123456789abcdef": "databricks_token",
    "ATATT3x" + "FfGF0abcdefghijklmnop=1A2B": "atlassian_token",
    "123456789:" + "AAabcdefghijklmnopqrstuvwxyz12345678": "telegram_token",
    "hooks.slack.com/" + "services/T000/B000/abcdefghijklmnopqrstuvwx": "slack_webhook",
    JWT: "jwt",
    PEM: "private_key",
    "4111 1111 1111 1111": "card",
    "4111-1111-1111-1111": "card",
    "5555555555554444": "card",
    "3782 822463 10005": "card",
    "2223003122003222": "card",
    "6011111111111117": "card",
    "3530111333300000": "card",
    "30569309025904": "card",
}
SHORTEST = {
    "sk-": "a1" * 8,
    "AKIA": "A1" * 8,
    "ASIA": "A1" * 8,
    "ABIA": "A1" * 8,
    "ACCA": "A1" * 8,
    "AIza": "a1" * 15,
    "ya29.": "a1" * 8,
    "eyJ": "a1b2c3d4e5f6g.x",
    "SG.": "a1" * 8 + "." + "b2" * 8,
    "xox": "b-" + "a1" * 6,
    "hooks.slack.com/": "services/T/B/" + "a1" * 8,
    "dapi": "a1" * 16,
    ":AA": "a1" * 16,
    "pcsk_": "a1" * 8,
    "ATATT3x": "a1" * 8,
}
"""What follows an anchor at least; 13 characters behind a prefix in `_`, 16 behind one in `-`."""
CREDENTIALS = [
    ("Authorization: Bearer abcdefgh1234", "Authorization: [redacted:assignment]"),
    ("send Bearer abcdefgh1234 along", "send Bearer [redacted:authorization] along"),
    ("use Basic dXNlcjpwYXNzMTIz now", "use Basic [redacted:authorization] now"),
    ("postgres://app:s3cret@db/orders", "postgres://app:[redacted:url_password]@db/orders"),
    ("token=abc123def", "token=[redacted:assignment]"),
    ("password: hunter2", "password: [redacted:assignment]"),
    ("DB_PASSWORD='correct horse' -v", "DB_PASSWORD='[redacted:assignment]' -v"),
    ('{"api_key": "abcdef", "n": 1}', '{"api_key": "[redacted:assignment]", "n": 1}'),
    (r"{\"secret\": \"abcdef\"}", r"{\"secret\": \"[redacted:assignment]\"}"),
    ("{'apiKey': 'abcdef'}", "{'apiKey': '[redacted:assignment]'}"),
    ("?access_token=abcd&page=2", "?access_token=[redacted:assignment]&page=2"),
    ("API key: abc123", "API key: [redacted:assignment]"),
    ("Cookie: sid=1; theme=dark\nHost: x", "Cookie: [redacted:assignment]\nHost: x"),
    ('"password": "never closed', '"password": "[redacted:assignment]'),
    ("password2 = hunter2", "password2 = [redacted:assignment]"),
    ("password='a token=abcdef in it' x", "password='[redacted:assignment]' x"),
    ("İİİİİ password=hunter2 İ", "İİİİİ password=[redacted:assignment] İ"),
    ("f(token=abcd,efgh, n=1)", "f(token=[redacted:assignment], n=1)"),
    (
        "https://b/k?X-Amz-Signature=fe5f80f77d5fa3be",
        "https://b/k?X-Amz-Signature=[redacted:url_signature]",
    ),
    ("https://b/k?sv=1&sig=aGVsbG8lMkZ3b3JsZA%3D", "https://b/k?sv=1&sig=[redacted:url_signature]"),
    ("mysql --password hunter2 -v", "mysql --password [redacted:command_option] -v"),
    ("x --db-admin-Token  abcd1234", "x --db-admin-Token  [redacted:command_option]"),
    ("docker login -u me -p hunter2 reg", "docker login -u me -p [redacted:command_option] reg"),
    ('["docker","login","-p","hunter2"]', '["docker","login","-p","[redacted:command_option]"]'),
    ("sshpass -p hunter2 ssh x", "sshpass -p [redacted:command_option] ssh x"),
    ("curl -u me:hunter2 https://x", "curl -u me:[redacted:command_option] https://x"),
    ("curl --user=me:hunter2 x", "curl --user=me:[redacted:command_option] x"),
    ("curl -U me:hunter2 x", "curl -U me:[redacted:command_option] x"),
    ('["curl", "-u", "me:hunter2"]', '["curl", "-u", "me:[redacted:command_option]"]'),
    ('{\\"-u\\",\\"me:hunter2\\"', '{\\"-u\\",\\"me:[redacted:command_option]\\"'),
    ("curl --user 'me:hunter2' x", "curl --user 'me:[redacted:command_option]' x"),
    (
        "ALTER USER x IDENTIFIED BY 'hunter2'",
        "ALTER USER x IDENTIFIED BY '[redacted:sql_password]'",
    ),
    (
        "create role x with password 'hunter2'",
        "create role x with password '[redacted:sql_password]'",
    ),
    ("passwords: ab1cd, n: 1", "passwords: [redacted:assignment], n: 1"),
    ("userPasswordConfirm=hunter2", "userPasswordConfirm=[redacted:assignment]"),
    ("password := hunter2", "password := [redacted:assignment]"),
    ('{"pass": "hunter2"}', '{"pass": "[redacted:assignment]"}'),
    ("db_pass: ab1cd", "db_pass: [redacted:assignment]"),
    ('{"tokens": ["abcd", "efgh"]}', '{"tokens": ["[redacted:assignment]"]}'),
    ("{'auth': ['ada', 'hunter2']}", "{'auth': ['[redacted:assignment]']}"),
    (r"{\"cookies\": [ \"sid=abc1\" ]}", r"{\"cookies\": [ \"[redacted:assignment]\" ]}"),
    ("<password>hunter2</password>", "<password>[redacted:assignment]</password>"),
    (
        r"<a:userToken t=\"x\">\n hunter2<\/a:userToken>",
        r"<a:userToken t=\"x\">[redacted:assignment]<\/a:userToken>",
    ),
    (
        "<db-password><![CDATA[hunter2]]></db-password>",
        "<db-password><![CDATA[[redacted:assignment]]]></db-password>",
    ),
]
IN_TAGS = [
    ('<p name="password" value="hunter2"/>', '<p name="password" value="[redacted:assignment]"/>'),
    ("<i value='hunter2' name='password'>", "<i value='[redacted:assignment]' name='password'>"),
    ('<i type="password" value="hunter2">', '<i type="password" value="[redacted:assignment]">'),
    ('<e key="db.password">hunter2</e>', '<e key="db.password">[redacted:assignment]</e>'),
    (
        r"<a id=\"token\" b=\"\" content=\"hunter2\">",
        r"<a id=\"token\" b=\"\" content=\"[redacted:assignment]\">",
    ),
]
"""Secrets in tags that are named by another attribute."""
IN_WORDS = [
    ("https://u:p/hunter2@h/x", "https://u:[redacted:url_password]@h/x"),
    ("https://u:p@hunter2@h/x", "https://u:[redacted:url_password]@h/x"),
    ("a://u:p#hunter2@h,b://h", "a://u:[redacted:url_password]@h,b://h"),
    ("mysql -u me -phunter2 db", "mysql -u me -p[redacted:command_option] db"),
    ("sshpass -p'hunter2' ssh h", "sshpass -p'[redacted:command_option]' ssh h"),
    ("x --pass hunter2", "x --pass [redacted:command_option]"),
    ("The password is hunter2.", "The password is [redacted:assignment]"),
    ("my PIN was: 123456", "my PIN was: [redacted:assignment]"),
    ('the API key is now "a b hunter2"', 'the API key is now "[redacted:assignment]"'),
    (
        "please set the password to hunter2 now",
        "please set the password to [redacted:assignment] now",
    ),
    ("Changed my PIN to 123456", "Changed my PIN to [redacted:assignment]"),
    ("machine h login u password hunter2", "machine h login u password [redacted:assignment]"),
    (r"login u\n  password hunter2\n", r"login u\n  password [redacted:assignment]\n"),
    ('["mysql","-phunter2","db"]', '["mysql","-p[redacted:command_option]","db"]'),
    (
        r"[\"mysql\", \"-u\", \"me\", \"-phunter2\"]",
        r"[\"mysql\", \"-u\", \"me\", \"-p[redacted:command_option]\"]",
    ),
    (
        '{"ParameterKey":"DBPassword","ParameterValue":"hunter2"}',
        '{"ParameterKey":"DBPassword","ParameterValue":"[redacted:assignment]"}',
    ),
    ("Password is **hunter2**", "Password is **[redacted:assignment]**"),
]
QUOTED = [
    ('{"password": "pa\\"ss hunter2", "n": 1}', '{"password": "[redacted:assignment]", "n": 1}'),
    ('{"token": "\\"hunter2\\""}', '{"token": "[redacted:assignment]"}'),
    ('{"token":"ab12\\\\","n":"b"}', '{"token":"[redacted:assignment]","n":"b"}'),
    ("{'password': 'it\\'s \"hunter2', 'n': 1}", "{'password': '[redacted:assignment]', 'n': 1}"),
    ("{'password': b'hunter2', b'n': 1}", "{'password': b'[redacted:assignment]', b'n': 1}"),
    ("{b'password': b'hunter2'}", "{b'password': b'[redacted:assignment]'}"),
    ("password='a''hunter2' x", "password='[redacted:assignment]' x"),
    ("PASSWORD='a'\\''hunter2' x", "PASSWORD='[redacted:assignment]' x"),
    ("PASSWORD='a'hunter2' x", "PASSWORD='[redacted:assignment]' x"),
    ('"{""password"": ""hunter2""}"', '"{""password"": ""[redacted:assignment]""}"'),
    ('password = """hunter2 "x" y"""', 'password = """[redacted:assignment]"""'),
    ("password: 'two\nlines hunter2'\nn: 1", "password: '[redacted:assignment]'\nn: 1"),
    ("password: 'no end hunter2\nn: 1", "password: '[redacted:assignment]\nn: 1"),
    ('{"password": "", "n": "hunter2"}', '{"password": "", "n": "hunter2"}'),
    ("('password', 'hunter2')", "('password', '[redacted:assignment]')"),
    ("[(b'cookie', b'hunter2')]", "[(b'cookie', b'[redacted:assignment]')]"),
    ('headers.set("x-api-key", "hunter2")', 'headers.set("x-api-key", "[redacted:assignment]")'),
    (
        '{"name": "token", "value": "hunter2"}',
        '{"name": "token", "value": "[redacted:assignment]"}',
    ),
    ('environ["PASSWORD"] = "hunter2"', 'environ["PASSWORD"] = "[redacted:assignment]"'),
    ("auth=('ada', 'hunter2')", "auth=('[redacted:assignment]')"),
    ("tokens: ['a\\'b', 'hunter2']", "tokens: ['[redacted:assignment]']"),
]
"""Quoted secrets, to their own closing quote."""
UNQUOTED = [
    ("if password == 'hunter2':", "if password == '[redacted:assignment]':"),
    ('password !== "hunter2"', 'password !== "[redacted:assignment]"'),
    ("password === hunter2", "password === [redacted:assignment]"),
    ("password -> hunter2", "password -> [redacted:assignment]"),
    ("'password' -> 'correct horse'", "'password' -> '[redacted:assignment]'"),
    ("PASSWORD=a\\ hunter2 x", "PASSWORD=[redacted:assignment] x"),
    ("PASSWORD=a\\shunter2 x", "PASSWORD=[redacted:assignment] x"),
    ("password=ab&hunter2 x", "password=[redacted:assignment] x"),
    ("?password=ab&hunter2&n=1", "?password=[redacted:assignment]&n=1"),
    ("password=a9(hunter2", "password=[redacted:assignment]"),
    ('password=ab"hunter2', "password=[redacted:assignment]"),
    ("f(password=abcd)", "f(password=[redacted:assignment])"),
    ("<p>password=abcd<br></p>", "<p>password=[redacted:assignment]<br></p>"),
    (
        "user: bob\n  - password: a b hunter2\nn: 1",
        "user: bob\n  - password: [redacted:assignment]\nn: 1",
    ),
    ("the password: hunter2 is old", "the password: [redacted:assignment] is old"),
    ("password: |\n  hunter2\n  more2\n\nn: 1", "password: |\n[redacted:assignment]\nn: 1"),
    (
        "a:\n  password: >-\n    hunter2\n  n: 1",
        "a:\n  password: >-\n[redacted:assignment]\n  n: 1",
    ),
    ("password: |\\n  hunter2\\n  more2\\nn: 1", "password: |\\n[redacted:assignment]\\nn: 1"),
    ("password:\n        hunter2\nn: 1", "password:\n        [redacted:assignment]\nn: 1"),
    (
        'Authorization: Digest a="x", response="hunter2"\nn',
        "Authorization: [redacted:assignment]\nn",
    ),
    (
        "curl -H 'Authorization: Custom hunter2' x",
        "curl -H 'Authorization: [redacted:assignment]' x",
    ),
    ("**Password:** hunter2", "**Password:** [redacted:assignment]"),
    ("**Password**: hunter2", "**Password**: [redacted:assignment]"),
    ("`password`: hunter2", "`password`: [redacted:assignment]"),
    ("- Password: `hunter2`.", "- Password: `[redacted:assignment]`."),
    ("password\t= hunter2", "password\t= [redacted:assignment]"),
]
"""Secrets without quotes, as far as they go."""
HARMLESS = [
    "Add the API key to config.yaml, send the token to user_42, set the password to something",
    "The login page password field is at /login form password",
    '["docker","-p8080:80"]',
    "login -> password -> submit",
    "def reset(password) -> Token:",
    "password == None",
    "docker run -u 1000:1000 x",
    '["docker", "-u", "1000:1000"]',
    '["password", "username"]',
    '<label for="password">Your password</label>',
    '<input type="password" name="p">',
    '<a href="/reset?of=password">at 12:30</a>',
    "The password is required. The token is well-known, the secret is out!",
    "http://localhost:8080/@scope/package",
    "mkdir -p /tmp/mysql; docker run -p8080:80 x",
    "columns: ('token', 'user_name')",
    'data["tokens"] = 5',
    "The order 123456789012 was refunded on 2026-01-02.",
    "task-force-management-plan",
    "risk-assessment-of-quarter-three",
    "call_AbCdEfGhIjKlMnOpQrStUvWx",
    "chatcmpl-AbCdEfGhIjKlMnOpQrStUvWx",
    "550e8400-e29b-41d4-a716-446655440000",
    "4111 1111 1111 1112",
    "+30569309025904",
    "docker run -u 1000:1000 -v /a:/b image",
    "see --token for the token, and --no-password -v",
    "the design=of the config=is simple",
    "1733000000000000000",
    "0.4111111111111111",
    "d41d8cd98f00b204e9800998ecf8427e",
    "e4111111111111111bcdefabcdefabcd",
    "max_tokens=100 total_tokens: 1500",
    "next_page_token=eyJhYg",
    "Reset your password: click the link",
    "The secret: patience",
    "token = get_token()",
    "password=None token: null",
    "basic cost-benefit analysis",
    "bearer authentication. It works",
    "https://example.com/a@b:c",
    "ada@example.org",
    "+49 30 1234567",
    *("+4915112345678", "4915112345678", "+5511912345678", "490154203237518", "4006381333931"),
    "secretary: Ada",
    "Authorization: [redacted:card]",
    "Favourite cookie: recipe no 42",
    "monkey=banana",
    "api_key = settings.API_KEY",
    "password: str = Field(...)",
    "if (password === confirmPassword) {",
    "self.token = token",
    "f(password=password, token=self.token)",
    "token = await this.auth.refresh(user.id);",
    'api_key="<YOUR_API_KEY>"',
    "api_key: process.env.OPENAI_API_KEY",
    'password: "********"',
    'password: "$DB_PASSWORD"',
    "PASSWORD=${PW} x",
    'password: "{{vault:db}}"',
    "token: ${{ secrets.GH }}",
    'token: "USDC"',
    "Password: reset it here https://example.org/reset",
    "def sign_in(password: str, token: Optional[str] = None):",
    "const token = req.headers.authorization;",
    "ssh login -p 2222",
    "--- PASS: test_refund[1] (0.00s)",
    "auth: 4012 users, compass: N4012, author: a1b2c, passed=4012, pass_rate: 0.9912",
    "completion_tokens: 15000, 'tokens': 15000, token_count=15000",
    "usage: login -p <password> -t <token>",
    "<label>Password</label> <th>Token</th>",
    '{"keys": ["abcd"], "compass": ["abcd"], "authors": ["abcd"]}',
]


TEXTS = [*CREDENTIALS, *QUOTED, *UNQUOTED, *IN_TAGS, *IN_WORDS]


@pytest.mark.parametrize(("secret", "kind"), SECRETS.items(), ids=SECRETS.values())
@pytest.mark.parametrize(
    "around", ["{}", "see {}.", "a\n{}\nb", "key{{{}}}", '"{}"', "é{}é", r"a\n{}\n", r"\u001b{}"]
)
def test_a_secret_is_replaced_by_its_kind(secret: str, kind: str, around: str) -> None:
    text = around.format(secret)
    expected = around.format(f"[redacted:{kind}]")
    assert DEFAULT_REDACTOR.text(text) == (expected, True)


@pytest.mark.parametrize("anchor", [anchor for kind in KEYS for anchor in kind.anchors])
def test_the_shortest_key_of_every_vendor_is_found_alone_and_in_a_value(anchor: str) -> None:
    body = SHORTEST.get(anchor) or ("a1b2c3d4e5f6g" if anchor.endswith("_") else "a1" * 8)
    secret = ("12345678" if anchor == ":AA" else "") + anchor + body
    text, changed = DEFAULT_REDACTOR.text(f"see {secret} there")
    assert changed
    assert body not in text
    assert body not in (CAPTURE.value({"note": [secret]}).text or "")


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_a_credential_in_a_text_is_replaced(text: str, expected: str) -> None:
    assert DEFAULT_REDACTOR.text(text) == (expected, text != expected)


@given(st.text(), st.sampled_from(["json", "repr"]), st.integers(0, 4), st.booleans())
@example('pa"ss', "json", 4, False)
@example("it's \"", "repr", 3, True)
@example("a\\", "json", 2, True)
@example("'\"", "repr", 1, False)
@example("\"'}", "repr", 1, False)
@example("\"', ", "repr", 3, True)
@example("\"'\\", "repr", 2, True)
@example("\\\"'", "repr", 2, True)
def test_a_quoted_secret_goes_to_its_own_closing_quote_however_deep_it_is(
    odd: str, how: str, depth: int, more: bool
) -> None:
    secret = f"{odd}hunter2{odd}" + "x9"
    value: Any = {"password": secret, "n": "kept"} if more else {"password": secret}
    text = json.dumps(value) if how == "json" else repr(value)
    for _ in range(depth):
        text = json.dumps({"body": text})
    written = DEFAULT_REDACTOR.text(text)[0]
    assert "hunter2" not in written
    assert "x9" not in written
    assert ("kept" in written) == more
    assert "hunter2" not in (CAPTURE.value({"note": [text]}).text or "")


@pytest.mark.parametrize("command", [["docker", "login", "-u", "me"], ["/bin/sshpass"]])
def test_the_password_that_follows_its_option_in_a_list_is_not_recorded(command: list[str]) -> None:
    captured = CAPTURE.arguments({"args": [*command, "-p", "hunter2", "x"]})
    hidden = [*command, "-p", "[redacted:command_option]", "x"]
    assert json.loads(captured.text or "") == {"args": hidden}
    ports = {"args": ["ssh", "login", "-p", "2222"]}
    assert json.loads(CAPTURE.arguments(ports).text or "") == ports


@pytest.mark.parametrize("value", ["********", "$DB_PASSWORD", "{{vault:db}}", "<YOUR_API_KEY>"])
def test_what_stands_for_a_secret_stays_under_its_name(value: str) -> None:
    assert CAPTURE.arguments({"password": value}).text == json.dumps(
        {"password": value}, separators=(",", ":")
    )
    assert json.loads(CAPTURE.value({"token": "CNY", "password": "CNY"}).text or "") == {
        "token": "CNY",
        "password": HIDDEN,
    }


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_text_stays(text: str) -> None:
    assert DEFAULT_REDACTOR.text(text) == (text, False)


@pytest.mark.parametrize(
    "text", [*SECRETS, *(before for before, after in TEXTS if before != after)]
)
@pytest.mark.parametrize(
    "place",
    [
        lambda secret: secret,
        lambda secret: {"note": [secret]},
        lambda secret: {secret: 1},
        lambda secret: [{"when": datetime.date(2026, 1, 1), "deep": [[{"note": (secret,)}]]}],
        lambda secret: {"body": json.dumps({"note": secret})},
        lambda secret: ValueError(secret),
        lambda secret: {secret},
        lambda secret: secret.encode(),
    ],
)
def test_no_place_lets_a_secret_out(place: Any, text: str) -> None:
    captured = CAPTURE.value(place(text))
    hidden = set(re.findall(r"[A-Za-z0-9]{4,}", text)) - set(
        re.findall(r"[A-Za-z0-9]{4,}", DEFAULT_REDACTOR.text(text)[0])
    )
    assert hidden
    assert captured.redacted
    assert not [part for part in hidden if part in (captured.text or "")]


@pytest.mark.parametrize(
    "text", [*SECRETS, *(before for before, after in TEXTS if before != after), *HARMLESS]
)
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = DEFAULT_REDACTOR.text(text)[0]
    assert DEFAULT_REDACTOR.text(once) == (once, False)


@pytest.mark.parametrize(
    "key",
    [
        *("password", "Password", "db_password", "dbPassword", "password1", "passwd", "pwd"),
        *("api_key", "apiKey", "API-Key", "openai_api_key", "x-api-key", "OPENAIAPIKEY"),
        *("secret", "client_secret", "token", "access_token", "accessToken", "authorization"),
        *("Authorization", "cookie", "Set-Cookie", "private_key", "aws_secret_access_key"),
        *("credentials", "cvv", "card_number", "headers.authorization", "connectionString"),
    ],
)
def test_the_value_under_a_denied_key_is_never_recorded(key: str) -> None:
    for secret in ("hunter2", 1234, [1, 2], {"a": 1}, datetime.date(2026, 1, 1)):
        captured = CAPTURE.arguments({"order": {key: secret}})
        assert captured.text == json.dumps(
            {"order": {key: "[redacted:key_name]"}}, separators=(",", ":")
        )
        assert captured.redacted


@pytest.mark.parametrize(
    "key",
    [
        *("order_id", "max_tokens", "total_tokens", "next_page_token", "pageToken"),
        *("secretary", "tokenizer", "monkey", "primary_key", "idempotency_key", "passenger"),
        *("time_to_first_token", "author", "pin_code", "cookie_policy", "keyboard"),
        *("compass", "bypass", "pass_rate", "passed", "passes", "boarding_pass", "token_count"),
        *("pins", "shipping", "seed", "session_id", "status_code", "zip_code", "answer", "phrase"),
        *("partition_key", "cache_key", "lesson", "dsn", "naïve", "paraphrase"),
        *("authority", "authors", "oauth", "authorizations", "confirm", "keys", "pass1"),
        *("token_id", "next_page_token_value", "secret_name", "password_policy", "key_base"),
        *("monkey_v2", "code_v1", "value", "base_hash", "old_value", "hash_code", "conv_v2"),
    ],
)
def test_the_value_under_a_harmless_key_stays(key: str) -> None:
    assert json.loads(CAPTURE.value({key: "value"}).text or "") == {key: "value"}


@pytest.mark.parametrize(
    "key",
    [
        *("passwords", "userPasswordConfirm", "Password (new)", "passwd_again", "db_pass"),
        *("pass", "smtp.pass", "pw", "auth", "basic_auth", "tokens", "api_tokens", "user_secrets"),
        *(
            "PASSWORT",
            "mot_de_passe",
            "contraseña",
            "пароль",
            "密码",
            "비밀번호",
            "ｐａｓｓｗｏｒｄ",
        ),
        *("openai_key", "anthropicKey", "GITHUB_KEY", "seed_phrase", "backupCodes", "2fa_code"),
        *("ssn", "customer_ssn", "mnemonic", "security_answer", "recovery_code", "JSESSIONID"),
    ],
)
@pytest.mark.parametrize(
    "secret", ["hunter2", ["hunter2"], ("ada", "hunter2"), {"db": ["hunter2", 1]}]
)
def test_plurals_repeated_passwords_and_short_names_are_denied_too(key: str, secret: Any) -> None:
    captured = CAPTURE.value({key: secret, "n": 1})
    assert json.loads(captured.text or "") == {key: HIDDEN, "n": 1}
    assert captured.redacted


@pytest.mark.parametrize("key", ["tokens", "pass", "pw", "auth", "llm.usage.tokens", "new_tokens"])
@pytest.mark.parametrize("count", [5, 1.5, True, None, [1, 2], {"in": 5, "out": [6, None]}])
def test_numbers_that_count_stay(key: str, count: Any) -> None:
    captured = CAPTURE.value({key: count})
    assert json.loads(captured.text or "") == {key: count}
    assert not captured.redacted


def test_token_ids_stay_whatever_holds_them_and_however_many_they_are() -> None:
    for ids in (np.arange(5), list(range(500_000)), {"a": np.int64(3)}):
        assert not CAPTURE.value({"tokens": ids, "at": DAY}).redacted


def test_a_number_under_a_name_of_the_user_does_not_stay() -> None:
    own = Capture(redactor=redactor(deny_keys=["tokens", "national_id"]))
    assert own.value({"tokens": 5}).text == '{"tokens":"[redacted:key_name]"}'
    assert own.value({"nationalIds": [5]}).text == '{"nationalIds":"[redacted:key_name]"}'


@pytest.mark.parametrize(
    "name",
    [
        *("pin", "ssn", "mnemonic", "seed_phrase", "recovery_codes", "backupCodes", "2fa_code"),
        *("security_answer", "OPENAI_KEY", "Passwort", "mot_de_passe", "senha", "wachtwoord"),
        *("api_key_v2", "apiKeyV2", "old_password_value", "secret_key_base", "pwd_hash"),
        *("secret_id", "secretId", "webhook_secret_v1", "otp_code", "totp_seed", "token-backup"),
        *("api_key_old", "passwordHash", "authorization_code", "db_password_plain", "jwt_value"),
    ],
)
def test_a_name_that_denies_a_key_denies_it_in_texts_and_pairs_too(name: str) -> None:
    value = {name: "hunter2"}
    for text in (
        json.dumps(value),
        json.dumps(json.dumps(value)),
        f"x {name}=hunter2",
        repr(value),
    ):
        assert "hunter2" not in DEFAULT_REDACTOR.text(text)[0]
        assert "hunter2" not in (CAPTURE.value({"body": text}).text or "")
    for pair in ({"name": name, "value": "hunter2"}, [[name, "hunter2"]], [name, "hunter2"]):
        assert "hunter2" not in (CAPTURE.value(pair).text or "")


DAY = datetime.date(2026, 1, 2)


class Named(enum.Enum):
    password = 1


class Numbered(enum.IntEnum):
    password = 7


class Valued(enum.Enum):
    field = "password"


RECORDS = np.dtype([("id", int), ("login", [("password", "U9"), ("n", int)], (2,))])


@pytest.mark.parametrize(
    "value",
    [
        {b"password": "hunter2"},
        {b"x-password": b"hunter2", "at": DAY},
        {"headers": [(b"password", b"hunter2"), (b"host", b"x")]},
        {"name": b"password", "value": "hunter2"},
        {Named.password: "hunter2"},
        {Numbered.password: "hunter2", "at": DAY},
        {Valued.field: ["hunter2"]},
        np.array([(1, "hunter2")], dtype=[("id", int), ("password", "U9")]),
        np.array([(1, "hunter2")], dtype=[("id", int), ("password", "U9")])[0],
        np.array([(1, [("hunter2", 1), ("hunter2", 2)])], dtype=RECORDS),
        pd.Series(["hunter2"], name="password"),
        pd.Series(["hunter2"], name=("login", "password")),
        pd.Series([1], index=pd.Index(["hunter2"], name="password")),
        pd.Series(["hunter2"], index=["password"]),
        pd.Index(["hunter2"], name="password"),
        pd.MultiIndex.from_tuples([(1, "hunter2")], names=["id", "password"]),
        pd.DataFrame({b"password": ["hunter2"]}),
        pd.DataFrame({"v": ["hunter2"]}, index=["password"]),
        pd.DataFrame({"v": ["hunter2"]}, index=pd.MultiIndex.from_tuples([("db", "password")])),
    ],
)
@pytest.mark.parametrize("name", ["password", "national_id"])
def test_whatever_gives_a_value_its_name_the_name_decides(value: Any, name: str) -> None:
    capture = CAPTURE if name == "password" else Capture(redactor=redactor(deny_keys=["password"]))
    captured = capture.value(value)
    assert captured.redacted
    for hidden in ("hunter2", hashlib.sha256(b"hunter2").hexdigest()):
        assert hidden not in (captured.text or "")
    assert HIDDEN in (captured.text or "")


class Setting(enum.Enum):
    PASSWORD = "hunter2"
    GRANT_TOKEN = "token"
    PIN = 3


class Text(enum.StrEnum):
    api_key = "hunter2"
    password = "password"


def test_the_name_of_a_member_of_an_enum_gives_its_value_a_name() -> None:
    for value in (Setting.PASSWORD, Text.api_key, [Setting.PASSWORD], {"a": Text.api_key}):
        captured = CAPTURE.value(value)
        assert "hunter2" not in (captured.text or "")
        assert captured.redacted
    words = [Setting.GRANT_TOKEN, Text.password, Setting.PIN]
    assert CAPTURE.value(words).text == '["token","password",3]'


def test_only_the_argument_that_names_the_entity_is_exempt() -> None:
    text = "password=hunter2"
    arguments = {"order": {"id": text, "also": text}, "note": text, "notes": [text]}
    captured = CAPTURE.arguments(arguments, frozenset({"order.id"}))
    hidden = "password=[redacted:assignment]"
    assert json.loads(captured.text or "") == {
        "order": {"id": text, "also": text},
        "note": hidden,
        "notes": [hidden],
    }


def test_fields_of_records_stand_under_their_names() -> None:
    value = np.array([(1, [("a", 1), ("b", 2)])], dtype=RECORDS)
    assert json.loads(CAPTURE.value(value).text or "")["head"] == [
        {"id": 1, "login": [{"n": 1, "password": HIDDEN}, {"n": 2, "password": HIDDEN}]}
    ]


def test_nothing_under_a_denied_key_is_no_secret() -> None:
    captured = CAPTURE.value({"password": None, "secret": "", "token": True})
    assert captured.text == '{"password":null,"secret":"","token":true}'
    assert not captured.redacted


def test_card_numbers_are_found_in_numbers_too() -> None:
    captured = CAPTURE.value([4111111111111111, 4111111111111111.0, 4111111111111112])
    assert captured.text == '["[redacted:card]","[redacted:card]",4111111111111112]'
    assert (
        CAPTURE.value([1.5, 4.264914902937949e16, "sk-"]).text
        == '[1.5,4.264914902937949e+16,"sk-"]'
    )
    careful = Capture(redactor=redactor(hooks=[str]))
    assert careful.value(4.264914902937949e16).text == "4.264914902937949e+16"
    assert captured.redacted


def test_a_card_number_behind_an_escape_in_json_is_found() -> None:
    text = json.dumps({"note": "\x014111111111111111\n"})
    assert CAPTURE.value(text).text == json.dumps(
        text.replace("4111111111111111", "[redacted:card]")
    )
    assert CAPTURE.value("\x014111111111111111").text == '"\\u0001[redacted:card]"'


def test_a_declared_entity_is_exempt_from_patterns_but_not_from_denied_names() -> None:
    card_like = "4111111111111111"
    arguments = {"order_id": card_like, "number": 4111111111111111, "note": "x" + card_like}
    captured = CAPTURE.arguments(arguments, frozenset({"order_id"}))
    assert json.loads(captured.text or "") == {
        "order_id": card_like,
        "number": "[redacted:card]",
        "note": "x[redacted:card]",
    }
    denied = CAPTURE.arguments({"token": card_like}, frozenset({"token"}))
    assert denied.text == '{"token":"[redacted:key_name]"}'


def test_an_exempt_path_leads_into_the_value() -> None:
    value = {"orders": [{"id": "4111111111111111"}, {"id": "5555555555554444"}]}
    captured = CAPTURE.value(value, frozenset({"orders[*].id"}))
    assert captured.text == json.dumps(value, separators=(",", ":"))
    assert not captured.redacted
    assert CAPTURE.value(value).redacted


def test_a_secret_that_the_window_would_cut_in_two_does_not_come_out() -> None:
    secret = next(iter(SECRETS))
    for length in range(65536 - 60, 65536 + 1100, 7):
        text = "x" * (length - 1) + " " + secret + " " + "y: z " * 60_000
        written = CAPTURE.value(text).text or ""
        assert "sk-" not in written


def test_a_search_that_ends_behind_a_secret_gives_nothing_out_that_it_did_not_look_at() -> None:
    for length in range(4_060, 4_110):
        for left in range(100, 2_000, 100):
            work = Work(left)
            before = "x" * (length - 10) + " password='"
            text = before + "y" * 60 + "' " + "token=hunter2 " * 400
            found = DEFAULT_REDACTOR.built_in_suspects(text)
            clean, _ = DEFAULT_REDACTOR.search(text, found, work)
            assert "hunter2" not in clean


def test_a_secret_that_the_cut_of_a_key_would_cut_in_two_does_not_come_out() -> None:
    secret = next(iter(SECRETS))
    for length in range(240, 1300):
        key = "password=" + "x" * (length - 10) + " " + secret + " end" * 400
        assert "sk-" not in (CAPTURE.value({key: 1}).text or "")


def test_messages_and_traces_are_redacted() -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    assert CAPTURE.text(f"denied for {secret}") == "denied for [redacted:aws_access_key]"
    assert "AKIA" not in CAPTURE.text("line\n" * 40_000 + secret)


def test_emails_and_phones_are_opt_in() -> None:
    capture = Capture(redactor=redactor(patterns=[EMAIL, PHONE]))
    captured = capture.value({"to": "ada@example.org", "call": "+49 30 1234567", "id": 7})
    assert captured.text == '{"call":"[redacted:phone]","id":7,"to":"[redacted:email]"}'
    assert not CAPTURE.value({"to": "ada@example.org", "call": "+49 30 1234567"}).redacted


def test_own_patterns_replace_their_secret_group() -> None:
    own = redactor(patterns=[r"employee (?P<secret>E\d+)", re.compile("Zeus")])
    assert own.text("employee E123 on Zeus") == (
        "employee [redacted:custom] on [redacted:custom]",
        True,
    )
    labelled = redactor(patterns=[SecretPattern("project", re.compile("Zeus"))])
    assert labelled.text("on Zeus") == ("on [redacted:project]", True)
    assert own.text("token=abc123def")[1]


def test_own_denied_names_hold_for_words_of_keys_and_in_texts() -> None:
    capture = Capture(redactor=redactor(deny_keys=["ssn", "Salary Band"]))
    value = {"ssn": "078", "customerSsn": "078", "salary_band": "E5", "lesson": 1, "password": "x"}
    assert json.loads(capture.value(value).text or "") == {
        "ssn": "[redacted:key_name]",
        "customerSsn": "[redacted:key_name]",
        "salary_band": "[redacted:key_name]",
        "lesson": 1,
        "password": "[redacted:key_name]",
    }
    assert capture.text("ssn=078-05") == "ssn=[redacted:assignment]"
    assert capture.text(r"a\nssn=078-05") == r"a\nssn=[redacted:assignment]"
    assert capture.text("salary band: E5-high") == "salary band: [redacted:assignment]"


def test_a_hook_sees_every_string_after_the_built_in_redaction() -> None:
    seen: list[str] = []

    def hook(text: str) -> str:
        seen.append(text)
        return text.replace("Zeus", "Z")

    capture = Capture(redactor=redactor(hooks=[hook]))
    captured = capture.value({"project Zeus": ["on Zeus", "token=abc123def"]})
    assert captured.text == '{"project Z":["on Z","token=[redacted:assignment]"]}'
    assert captured.redacted
    assert set(seen) == {"project Zeus", "on Zeus", "token=[redacted:assignment]"}


@pytest.mark.parametrize("result", [None, 5, ZeroDivisionError("AKIA")])
def test_a_hook_that_fails_costs_the_string_and_is_counted(
    result: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def hook(text: str) -> Any:
        if "Zeus" not in text:
            return text
        if isinstance(result, Exception):
            raise result
        return result

    reset_capture_errors()
    capture = Capture(redactor=redactor(hooks=[hook]))
    with caplog.at_level(logging.WARNING, "trackway"):
        for _ in range(3):
            captured = capture.value({"a": "on Zeus", "b": "kept"})
    assert captured.text == '{"a":"[redacted:hook_failed]","b":"kept"}'
    assert captured.redacted
    assert capture_errors() == {"redaction hook": 3}
    assert len(caplog.records) == 1
    assert "Zeus" not in caplog.text
    assert "AKIA" not in caplog.text
    reset_capture_errors()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([["x-api-key", "hunter2"], ["accept", "*/*"]], [["x-api-key", HIDDEN], ["accept", "*/*"]]),
        ([("Cookie", "a=1; b")], [["Cookie", HIDDEN]]),
        ([["token2", ["a", "b"]]], [["token2", HIDDEN]]),
        ({"name": "X-Api-Key", "value": "hunter2"}, {"name": "X-Api-Key", "value": HIDDEN}),
        ({"key": "DB_PASSWORD", "value": 1234}, {"key": "DB_PASSWORD", "value": HIDDEN}),
        (["mysql", "--password", "hunter2", "-v"], ["mysql", "--password", HIDDEN, "-v"]),
        (["a", "-api-token", "x y"], ["a", "-api-token", HIDDEN]),
        (["curl", "-u", "me:hunter2", "x"], ["curl", "-u", "me:[redacted:command_option]", "x"]),
        (("--proxy-user", "me:hunter2"), ["--proxy-user", "me:[redacted:command_option]"]),
        ({"Key": "password", "Value": "hunter2"}, {"Key": "password", "Value": HIDDEN}),
        ({"NAME": "password", "VALUE": 1234}, {"NAME": "password", "VALUE": HIDDEN}),
        ({"k": "cookie", "v": "hunter2"}, {"k": "cookie", "v": HIDDEN}),
        ({"key": "password", "val": "a b"}, {"key": "password", "val": HIDDEN}),
        ({"id": "password", "value": ["x"]}, {"id": "password", "value": HIDDEN}),
        ({"field": "password", "content": "x"}, {"content": HIDDEN, "field": "password"}),
        ({"param": "password", "data": "x"}, {"data": HIDDEN, "param": "password"}),
        ({"Label": "Password", "Text": "x"}, {"Label": "Password", "Text": HIDDEN}),
        (("password", "hunter2"), ["password", HIDDEN]),
        ({"pair": ["password", "correct horse 7"]}, {"pair": ["password", HIDDEN]}),
        (
            {"ParameterKey": "DBPassword", "ParameterValue": "hunter2"},
            {"ParameterKey": "DBPassword", "ParameterValue": HIDDEN},
        ),
        (["/bin/mysql", "-phunter2"], ["/bin/mysql", "-p[redacted:command_option]"]),
        (["password=", 1234], ["password=", HIDDEN]),
    ],
)
@pytest.mark.parametrize("also", [None, datetime.date(2026, 1, 1)])
def test_a_secret_beside_its_name_is_hidden(value: Any, expected: Any, also: Any) -> None:
    captured = CAPTURE.value({"deep": [value], "also": also})
    assert json.loads(captured.text or "")["deep"] == [expected]
    assert captured.redacted


@pytest.mark.parametrize(
    "value",
    [
        ["token", "price"],
        ["password", "user_name"],
        {"role": "tool", "name": "reset_password", "content": "It is done at 12:30"},
        [["rows", "token"], ["a", "b"]],
        [["token", "a", "b"]],
        [["token", None], ["password", ""], ["secret", True]],
        {"name": "token count", "value": 3},
        {"name": "password", "hint": "value"},
        ["--password"],
        ["-u", "1000:1000"],
        ["mysql", "-p", "-v"],
        ["ssh", "-p2222"],
        ["-u", "me"],
        ["-u", 7],
        ["--token", None],
        ["-v", "password"],
    ],
)
def test_what_stands_beside_no_denied_name_stays(value: Any) -> None:
    captured = CAPTURE.value({"deep": value})
    assert json.loads(captured.text or "") == {"deep": value}
    assert not captured.redacted


def test_without_a_redactor_everything_stays() -> None:
    value = {"password": "hunter2", "note": "token=abc123def"}
    captured = Capture(redactor=None).value(value)
    assert json.loads(captured.text or "") == value
    assert not captured.redacted


def test_mistakes_in_a_policy_are_named() -> None:
    with pytest.raises(ValueError, match="does not compile"):
        redactor(patterns=["("])
    with pytest.raises(ValueError, match="expected a collection of names, found the text 'ssn'"):
        redactor(deny_keys="ssn")
    with pytest.raises(ValueError, match="expected names with letters or digits, found '--'"):
        redactor(deny_keys=["--"])


def test_the_column_screen_finds_every_text_that_would_change() -> None:
    pa = pytest.importorskip("pyarrow", reason="the screen is for columns of pyarrow")
    import pyarrow.compute as pc

    assert DEFAULT_REDACTOR.screen is not None
    changed = [*SECRETS, *(before for before, after in TEXTS if before != after)]
    in_json = [json.dumps({"a": [text]}) for text in changed]
    in_json += ['[["x-api-key","hunter2"]]', '{"name":"Cookie","value":"a"}', '["--token","a"]']
    found = pc.match_substring_regex(pa.array(changed + in_json), DEFAULT_REDACTOR.screen)
    assert found.to_pylist() == [True] * len(found)
    plain = pc.match_substring_regex(pa.array(["The order was refunded."]), DEFAULT_REDACTOR.screen)
    assert plain.to_pylist() == [False]
    assert redactor(hooks=[str]).screen is None
    assert redactor(patterns=["a"]).screen is None


def test_ids_that_hold_secrets_stay_apart_and_ids_of_digits_stay() -> None:
    one, other = (CAPTURE.id_text(f"pay token={secret}") for secret in ("hunter2", "hunter3"))
    assert one.startswith("pay token=[redacted:assignment]#")
    assert "hunter" not in one + other
    assert one != other
    assert one == CAPTURE.id_text("pay token=hunter2")
    assert CAPTURE.id_text("4111111111111111") == "4111111111111111"
    assert CAPTURE.id_text("order-7") == "order-7"


def test_what_is_typed_is_found_in_short_texts_of_a_long_value() -> None:
    texts = {f"note {number}": "some more words " * 9 for number in range(60)}
    texts["asked"] = "please set the password to Zq7Xk029LmPw4Tb8V today"
    recorded = CAPTURE.value(texts).text
    assert recorded is not None
    assert "Zq7Xk029" not in recorded
