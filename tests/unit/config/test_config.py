"""Live models by name, their addresses and settings, as users write them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.config import (
    PRESETS,
    ActorConfig,
    LiveRef,
    address_for,
    apply_settings,
    check_settings,
    load_actors,
    load_providers,
    parse_live_ref,
    resolve,
)
from harness.config.live_ref import problem_of_url
from harness.config.settings import ALLOWED
from harness.errors import CatalogError, ConfigError, UsageError
from harness.schema.message import GenerationSettings

CANARY = "canary-7f3a"
#: Names of models that hold an ``@`` of their own.
NAMES_WITH_AT = (
    "name@2024-01",
    "gemini-x@default",
    "claude@1.5",
    "m@latest",
    "m@20240101:beta",
    "m@",
    "@cf/meta/llama-3.1-8b",
    "workers-ai/@cf/meta/llama-3.1-8b",
    "publishers/google/models/m@001",
)
PROVIDERS = ", ".join(preset.name for preset in PRESETS)


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("openai/gpt-x", LiveRef("openai", "gpt-x")),
        ("ark/doubao-seed-2-1-pro-260628", LiveRef("ark", "doubao-seed-2-1-pro-260628")),
        (
            "openai-compatible/org/m:free@http://127.0.0.1:8/v1/",
            LiveRef("openai-compatible", "org/m:free", "http://127.0.0.1:8/v1"),
        ),
        ("openai-compatible/@cf/m@20@https://h.test", LiveRef("openai-compatible", "@cf/m@20", "https://h.test")),
        ("openai/m@http://[::1]:8000/v1", LiveRef("openai", "m", "http://[::1]:8000/v1")),
        ("z.ai/glm-4.6", LiveRef("z.ai", "glm-4.6")),
        *((f"openai/{name}", LiveRef("openai", name)) for name in NAMES_WITH_AT),
        ("llama.cpp/m@http://127.0.0.1:8080/v1", LiveRef("llama.cpp", "m", "http://127.0.0.1:8080/v1")),
    ],
)
def test_a_live_model_is_read(text: str, ref: LiveRef) -> None:
    assert parse_live_ref(text) == ref


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("gpt-x", "the form is PROVIDER/MODEL"),
        ("", "the form is"),
        ("OpenAI/x", "the form is"),
        (f"https://u:{CANARY}@h.test/v1", "the form is"),
        ("openai/", "printable ASCII"),
        ("openai/a b", "printable ASCII"),
        ("openai/²", "printable ASCII"),
        ("openai/\0", "printable ASCII"),
        (f"openai/m@https://u:{CANARY}@h.test/v1", "user name or password"),
        (f"openai/m@https://h.test/v1?key={CANARY}", "no query"),
        (f"openai/m@https://h.test/v1#{CANARY}", "no fragment"),
        (f"openai/m@ftp://h.test/{CANARY}", "http:// or https://"),
        (f"openai/m@https:///{CANARY}", "names no host"),
        (f"openai/m@https://h.test:99999/{CANARY}", "no URL"),
        (f"openai/m@http://[::1/{CANARY}", "no URL"),
        (f"openai/m@https://h.test/ {CANARY}", "no spaces"),
    ],
)
def test_what_is_no_live_model_is_refused_in_one_line_without_secrets(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_live_ref(text)
    line = str(caught.value)
    assert problem in line
    assert CANARY not in line
    assert "\n" not in line


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:8765/v1",
        "127.0.0.1",
        "localhost",
        "LOCALHOST/v1",
        "localhost:8000",
        "gateway:8000",
        "gateway/v1",
        "api.vendor.test",
        "api.vendor.test.",
        "api.vendor.test/v1",
        "[::1]:8000/v1",
        "[::1]",
        "::1/v1",
        "//h.test/v1",
        "/v1",
        "http:h",
        "https:/h.test/v1",
        f"u:{CANARY}@gateway:8000",
        "gateway:8000@http://h.test",
    ],
)
def test_an_address_without_its_scheme_never_becomes_a_part_of_the_models_name(address: str) -> None:
    with pytest.raises(UsageError, match=r"looks like an address; .* PROVIDER/MODEL@http://") as caught:
        parse_live_ref(f"openai/good@{address}")
    assert CANARY not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_behind_an_at_that_begins_a_name_an_address_is_refused_too() -> None:
    for text in ("openai/@localhost:8000", "openai/@api.vendor.test/v1", "openai/@127.0.0.1/v1"):
        with pytest.raises(UsageError, match="looks like an address"):
            parse_live_ref(text)


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(CatalogError, match=f"unknown provider 'azure'; there are: {PROVIDERS}"):
        resolve("azure")


def test_the_presets_say_where_to_go_and_which_key_to_take() -> None:
    rows = [(p.base_url, p.key_env, p.key_required) for p in map(resolve, ("openai", "ark", "openai-compatible"))]
    assert rows == [
        ("https://api.openai.com/v1", "OPENAI_API_KEY", True),
        ("https://ark.cn-beijing.volces.com/api/v3", "ARK_API_KEY", True),
        (None, "HARNESS_API_KEY", False),
    ]


def test_a_row_is_a_whole_provider() -> None:
    for preset in PRESETS:
        assert parse_live_ref(f"{preset.name}/m").provider == preset.name
        assert preset.base_url is None or problem_of_url(preset.base_url) is None
        assert preset.key_required is (preset.base_url is not None and preset.base_url.startswith("https://"))
        names = {entry.partition("=")[0] for entry in preset.refuses}
        assert names <= set(GenerationSettings.model_fields)
    assert len({preset.name for preset in PRESETS}) == len(PRESETS)


@pytest.mark.parametrize(
    ("name", "address", "key"),
    [
        ("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        ("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        ("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        ("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
        ("z.ai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
        ("ollama", "http://127.0.0.1:11434/v1", "OLLAMA_API_KEY"),
        ("vllm", "http://127.0.0.1:8000/v1", "VLLM_API_KEY"),
        ("llama.cpp", "http://127.0.0.1:8080/v1", "LLAMA_API_KEY"),
    ],
)
def test_a_vendor_has_its_own_address_and_key(name: str, address: str, key: str) -> None:
    preset = resolve(name)
    assert (preset.codec, address_for(preset, None), preset.key_env) == ("openai", address, key)


@pytest.mark.parametrize(
    ("name", "settings", "problem"),
    [
        ("z.ai", GenerationSettings(tool_choice="required"), "z.ai takes no tool_choice 'required'"),
        ("moonshot", GenerationSettings(tool_choice="required"), "moonshot takes no tool_choice 'required'"),
        ("ollama", GenerationSettings(tool_choice="none"), "ollama takes no tool_choice 'none'"),
        ("deepseek", GenerationSettings(thinking="auto"), "deepseek takes no thinking 'auto'"),
        ("deepseek", GenerationSettings(seed=1), "deepseek knows no setting 'seed'"),
        ("groq", GenerationSettings(thinking="enabled"), "groq knows no setting 'thinking'"),
    ],
)
def test_what_a_vendor_would_not_heed_is_refused(name: str, settings: GenerationSettings, problem: str) -> None:
    check_settings(resolve(name), GenerationSettings(tool_choice="auto", temperature=0.0))
    with pytest.raises(UsageError, match=problem):
        check_settings(resolve(name), settings)


def test_a_given_address_replaces_that_of_the_preset() -> None:
    assert address_for(resolve("openai"), None) == "https://api.openai.com/v1"
    assert address_for(resolve("openai"), "http://h.test") == "http://h.test"
    with pytest.raises(UsageError, match="openai-compatible/MODEL@http"):
        address_for(resolve("openai-compatible"), None)


def test_a_setting_that_a_provider_does_not_know_is_refused() -> None:
    check_settings(resolve("ark"), GenerationSettings(thinking="disabled"))
    check_settings(resolve("openai"), GenerationSettings(temperature=0.0))
    with pytest.raises(UsageError, match="openai knows no setting 'thinking'"):
        check_settings(resolve("openai"), GenerationSettings(thinking="disabled"))


def test_settings_are_read_from_assignments_and_the_last_counts() -> None:
    given = ["temperature=0", "top_p = 0.5", "max_output_tokens=9", "reasoning_effort=none", "thinking=auto"]
    more = ["seed=-3", "tool_choice=required", "parallel_tool_calls=false", "temperature=0.2"]
    assert apply_settings(GenerationSettings(seed=1), [*given, *more]) == GenerationSettings(
        temperature=0.2,
        top_p=0.5,
        max_output_tokens=9,
        reasoning_effort="none",
        thinking="auto",
        seed=-3,
        tool_choice="required",
        parallel_tool_calls=False,
    )


def test_no_assignment_changes_nothing() -> None:
    settings = GenerationSettings(temperature=1.0)
    assert apply_settings(settings, []) == settings


@pytest.mark.parametrize(
    ("assignment", "problem"),
    [
        ("temperature", "takes NAME=VALUE"),
        (f"{CANARY}=1", "no such setting; names: temperature, top_p"),
        ("temprature=1", "--set: there is no such setting as 'temprature'; names: temperature, top_p"),
        ("temperature=3", "temperature: this value cannot be used; allowed: a number from 0 to 2"),
        ("temperature=warm", "a number from 0 to 2"),
        ("temperature=NaN", "a number from 0 to 2"),
        ("temperature=", "a number from 0 to 2"),
        ("temperature=null", "a number from 0 to 2"),
        ("temperature=" + "[" * 100_000, "a number from 0 to 2"),
        ("seed=1.5", "a whole number"),
        ("max_output_tokens=0", "a whole number from 1"),
        ("tool_choice=sometimes", "auto, required, none"),
        ("parallel_tool_calls=1", "true, false"),
        ('thinking="auto"', "enabled, disabled, auto"),
    ],
)
def test_an_assignment_that_cannot_be_used_names_what_is_allowed(assignment: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        apply_settings(GenerationSettings(), [assignment])
    assert problem in str(caught.value)
    assert CANARY not in str(caught.value)


def test_every_setting_says_what_it_allows() -> None:
    assert set(ALLOWED) == set(GenerationSettings.model_fields)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "harness.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("load", [load_actors, load_providers])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[provider.openai]\nconcurrency = 1", "provider: unknown; did you mean [providers.NAME]? allowed: "),
        ("[actor.b]", "actor: unknown; did you mean [actors.NAME]? allowed: [actors.NAME], [providers.NAME]"),
        ("[Actors.b]", "a name: unknown; did you mean [actors.NAME]?"),
        ("[runs]", "runs: unknown; did you mean [run]? allowed: [actors.NAME], [providers.NAME], [run], [check]"),
        ("concurrency = 4", "concurrency: unknown; allowed: [actors.NAME]"),
        (f'"{CANARY}" = 1', "a name: unknown; allowed: "),
        (f'api_key = "{CANARY}"', "api_key: unknown; allowed: "),
    ],
)
def test_what_stands_beside_the_tables_is_refused_with_the_nearest_name(
    tmp_path: Path, load: Callable[[Path], object], text: str, told: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: {told}")
    assert CANARY not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_actors_are_read_and_providers_are_not_looked_into(tmp_path: Path) -> None:
    text = """
        [providers.openai]
        whatever = [1, { a = 2 }]
        [actors.seed-pro]
        provider = "ark"
        model = "doubao-x"
        temperature = 0
        thinking = "disabled"
        [actors.local]
        provider = "openai-compatible"
        model = "org/m"
        base_url = "http://127.0.0.1:8000/v1/"
        key_env = "MY_KEY"
    """
    actors = load_actors(written(tmp_path, text))
    assert list(actors) == ["seed-pro", "local"]
    assert actors["seed-pro"] == ActorConfig(
        "ark", "doubao-x", settings=GenerationSettings(temperature=0, thinking="disabled")
    )
    assert actors["local"] == ActorConfig("openai-compatible", "org/m", "http://127.0.0.1:8000/v1", "MY_KEY")


def test_no_file_and_no_table_mean_no_actors(tmp_path: Path) -> None:
    assert load_actors(tmp_path / "none.toml") == {}
    assert load_actors(written(tmp_path, "")) == {}


GOOD = 'provider = "openai"\nmodel = "m"\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"[actors.a]\nx = {CANARY}", ":2: is no TOML"),
        ("actors = 1", "actors: must be tables"),
        ("[actors]\na = 1", "[actors.a]: must be a table"),
        (f'[actors."{CANARY} x"]\n{GOOD}', "a name is 1 to 64"),
        ('[actors.a]\nmodel = "m"', "provider and model are both needed"),
        ('[actors.a]\nprovider = "openai"', "provider and model are both needed"),
        ('[actors.a]\nprovider = "azure"\nmodel = "m"', f"provider: unknown; allowed: {PROVIDERS}"),
        ('[actors.a]\nprovider = 1\nmodel = "m"', "provider: must be a text"),
        ('[actors.a]\nprovider = "openai"\nmodel = "a b"', "model: this name cannot be used"),
        (
            f"[actors.a]\n{GOOD}temprature = 1",
            "temprature: unknown; allowed: provider, model, base_url, key_env, price,",
        ),
        (f'[actors.a]\n{GOOD}"{CANARY} x" = 1', "a key: unknown"),
        (f"[actors.a]\n{GOOD}temperature = 3", "temperature: this value cannot be used; allowed: a number from 0 to 2"),
        (f"[actors.a]\n{GOOD}seed = [1]", "seed: not such a value; allowed: a whole number"),
        (f"[actors.a]\n{GOOD}max_tokens = 9", "max_tokens: unknown"),
        (f'[actors.a]\n{GOOD}base_url = "https://u:{CANARY}@h.test"', "base_url: the address must not hold a user"),
        (f'[actors.a]\n{GOOD}key_env = "{CANARY}"', "key_env: no name of an environment variable"),
        (f'[actors.a]\n{GOOD}api_key = "{CANARY}"', 'name that: key_env = "NAME"'),
        (f'[actors.a]\n{GOOD}token = "{CANARY}"', 'name that: key_env = "NAME"'),
        (f'[actors.a]\n{GOOD}openai_key = "{CANARY}"', 'name that: key_env = "NAME"'),
        (f'[actors.a]\n{GOOD}key_env = "sk-{CANARY}-0123456789"', "looks like an API key"),
        (f'[actors.a]\n{GOOD}thinking = "sk-{CANARY}-0123456789"', "looks like an API key"),
    ],
)
def test_a_file_that_cannot_be_used_names_file_key_and_what_is_allowed(tmp_path: Path, text: str, problem: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_actors(path)
    line = str(caught.value)
    assert line.startswith(f"{path}:")
    assert problem in line
    assert CANARY not in line
    assert "\n" not in line


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "harness.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"harness\.toml:1: is no UTF-8 text"):
        load_actors(path)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is too large; allowed: at most 1048576 bytes"):
        load_actors(written(tmp_path, "#" * 1_048_577))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_actors(tmp_path)
